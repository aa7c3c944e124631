"""Files as clients see them: upload, list, read, describe, bind, delete; and every refusal, with nothing changed."""

import hashlib
import json
from datetime import timedelta
from functools import partial

import pytest

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from ledger.models import Event
from suppliers.files import scanning
from suppliers.files.models import File, FileBinding
from tests.factories import Api, api_key, as_member, bearer, member, provision
from tests.suppliers.files.samples import counts, limit, objects, pdf, png, ready, send, sweep, upload, used
from tests.suppliers.products import create


def events(tenant, file_id):
    with tenant_context(tenant.id):
        return list(
            Event.objects.filter(tenant_id=tenant.id, resource_id=file_id).order_by("id").values_list("type", flat=True)
        )


def binding(product, **more):
    return {"resource_type": "product", "resource_id": product["id"]} | more


def test_upload_is_quarantined_scanned_and_read(api, supplier):
    content = png()
    answer = send(api, content, title="Front", visibility="catalog")
    assert answer.status_code == 201
    made = answer.json()["data"]
    assert answer.headers["Location"] == f"/v1/files/{made['id']}"
    assert made | {"id": "", "created_at": "", "updated_at": ""} == {
        "id": "", "name": "front.png", "purpose": "product_image", "status": "scanning", "rejection_reason": None,
        "content_type": "image/png", "size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "title": "Front",
        "visibility": "catalog", "expires_on": None, "bindings": [], "content_url": None, "created_at": "", "updated_at": "",
        "version": 1,
    }  # fmt: skip
    assert used(supplier) == len(content)
    assert scanning.scan_files(at=now()) >= 1
    found = api.get(f"/v1/files/{made['id']}").json()["data"]
    assert (found["status"], found["version"]) == ("ready", 2)
    nobody = Api()
    read = nobody.client.get(found["content_url"])
    assert (read.status_code, b"".join(read.streaming_content)) == (200, content)
    read.close()
    assert read.headers["Content-Type"] == "image/png"
    assert read.headers["Content-Disposition"] == 'attachment; filename="front.png"'
    assert read.headers["X-Content-Type-Options"] == "nosniff"
    assert read.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert events(supplier, made["id"]) == ["file.uploaded", "file.updated"]


def test_list_filters_sorts_and_links(api):
    product = create(api)
    first = ready(api, name="b.png", bindings=json.dumps([binding(product, role="front", position=2, language="de")]))
    second = upload(api, pdf(), purpose="certificate", name="a.pdf", expires_on="2027-01-31")

    def ids(query=""):
        answer = api.get(f"/v1/files?{query}")
        assert answer.status_code == 200, answer.content
        data = answer.json()["data"]
        assert data["total"] == len(data["items"])
        return [item["id"] for item in data["items"]]

    assert ids("sort=name") == [second["id"], first["id"]]
    assert ids("purpose=certificate,report") == [second["id"]]
    assert ids("status=ready") == [first["id"]]
    assert ids("resource_type=product") == [first["id"]]
    assert ids(f"resource_id={product['id']}") == [first["id"]]
    assert ids(f"resource_id={product['id']}&resource_type=offer") == []
    assert ids(f"resource_id={uuid7()}") == []
    shown = {item["id"]: item for item in api.get("/v1/files").json()["data"]["items"]}
    assert shown[second["id"]]["content_url"] is None
    assert "/v1/files/content/hpf_" in shown[first["id"]]["content_url"]
    assert shown[first["id"]]["bindings"] == [
        {"resource_type": "product", "resource_id": product["id"], "role": "front", "position": 2, "language": "de"}
    ]
    assert api.get("/v1/files?fields=id").json()["data"]["items"] == [
        {"id": item} for item in (second["id"], first["id"])
    ]
    for wrong in ("status=lost", "purpose=fun", "resource_type=tenant", "resource_id=1", "colour=red", "sort=size"):
        assert api.get(f"/v1/files?{wrong}").status_code == 400, wrong


def test_only_ready_images_are_media_of_their_product(api):
    product = create(api)
    plain = api.get(f"/v1/products/{product['id']}").headers["ETag"]
    front = ready(api, title="Front", bindings=json.dumps([binding(product, position=1)]))
    back = ready(api, bindings=json.dumps([binding(product, position=0)]))
    ready(api, pdf(), purpose="product_document", name="a.pdf", bindings=json.dumps([binding(product)]))
    upload(api, bindings=json.dumps([binding(product)]))  # not scanned yet
    media = api.get(f"/v1/products/{product['id']}").json()["data"]["media"]
    assert [(one["file_id"], one["position"], one["title"]) for one in media] == [
        (back["id"], 0, None),
        (front["id"], 1, "Front"),
    ]
    tag = api.get(f"/v1/products/{product['id']}").headers["ETag"]
    assert (plain, tag.partition(";")[0]) == ('"1"', '"1')
    api.patch(f"/v1/files/{front['id']}", json={"title": "Other"})
    assert api.get(f"/v1/products/{product['id']}").headers["ETag"] != tag


def test_same_content_and_purpose_is_one_file_of_the_tenant(api, supplier):
    content = png()
    first = upload(api, content)
    before = counts(supplier)
    again = send(api, content, title="Another title")
    assert (again.status_code, again.json()["data"]["id"]) == (200, first["id"])
    assert again.json()["data"]["title"] is None
    assert counts(supplier) == before
    elsewhere = send(api, content, purpose="message")
    assert elsewhere.status_code == 201
    other = provision("supplier")
    theirs = send(Api(key=api_key(other), tenant=other), content)
    assert theirs.status_code == 201
    assert theirs.json()["data"]["id"] != first["id"]


def test_repeat_under_one_key_is_replayed_whatever_its_boundary(api, supplier):
    content, key = png(), {"Idempotency-Key": str(uuid7())}
    first = send(api, content, headers=key, boundary="one")
    before = counts(supplier)
    again = send(api, content, headers=key, boundary="another")
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"
    for change in ({"title": "T"}, {"name": "other.png"}, {"media": "image/png"}):
        reused = send(api, content, headers=key, **change)
        assert (reused.status_code, reused.json()["code"]) == (422, "idempotency_key_reused"), change
    assert send(api, png(), headers=key).json()["code"] == "idempotency_key_reused"
    sweep()
    assert counts(supplier) == before


def test_patch_describes_and_binds_anew(api, supplier):
    product, made = create(api), upload(api)
    path = f"/v1/files/{made['id']}"
    body = {"title": "Back", "visibility": "catalog", "bindings": [binding(product, role="back", position=3)]}
    changed = api.patch(path, json=body)
    assert changed.status_code == 200, changed.content
    data = changed.json()["data"]
    assert (data["title"], data["visibility"], data["version"]) == ("Back", "catalog", 2)
    assert data["bindings"] == [binding(product, role="back", position=3, language=None)]
    same = api.patch(path, json=body).json()["data"]
    assert same["version"] == 2
    own = {"resource_type": "supplier", "resource_id": str(supplier.id), "role": "logo"}
    rebound = api.patch(path, json={"bindings": [own]}).json()["data"]
    assert [one["resource_type"] for one in rebound["bindings"]] == ["supplier"]
    assert api.patch(path, json={"bindings": []}).json()["data"]["bindings"] == []
    assert events(supplier, made["id"]) == ["file.uploaded", *["file.updated"] * 3]
    stale = api.patch(path, json={"title": "X"}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["code"]) == (409, "version_conflict")
    for wrong in (
        {"name": "x"},
        {"status": "ready"},
        {"sha256": "0" * 64},
        {"title": "x" * 256},
        {"title": "a\x00b"},
        {"bindings": [{}]},
        {"bindings": [{"resource_type": "product"}]},
        {"bindings": None},
    ):
        assert api.patch(path, json=wrong).status_code == 400, wrong
    assert api.get(path).json()["data"]["title"] == "Back"


@pytest.mark.parametrize("method", ["PATCH", "POST"])
def test_binding_to_what_is_not_there_is_refused(api, supplier, method):
    other = provision("supplier")
    foreign = create(Api(key=api_key(other), tenant=other))
    made = upload(api)
    before = counts(supplier)

    def refused(one):
        if method == "PATCH":
            return api.patch(f"/v1/files/{made['id']}", json={"bindings": [one]})
        return send(api, png(), bindings=json.dumps([one]))

    for one, code in [
        (binding(foreign), "unknown_resource"),
        (binding({"id": str(uuid7())}), "unknown_resource"),
        ({"resource_type": "offer", "resource_id": str(uuid7())}, "unknown_resource"),
        ({"resource_type": "supplier", "resource_id": str(other.id)}, "unknown_resource"),
        ({"resource_type": "invoice", "resource_id": str(uuid7())}, "resource_not_available"),
        ({"resource_type": "ward", "resource_id": str(uuid7())}, "invalid_choice"),
    ]:
        answer = refused(one)
        assert answer.status_code == 400, one
        assert [error["code"] for error in answer.json()["errors"]] == [code], one
        assert answer.json()["errors"][0]["field"].startswith("bindings.0.")
    with tenant_context(supplier.id):
        assert not FileBinding.objects.filter(tenant_id=supplier.id).exists()
    sweep()
    assert counts(supplier) == before


def test_bindings_of_a_form_are_json(api, supplier):
    before = counts(supplier)
    for text in ("[", "{}", '"x"', '[{"resource_type": "product"}]', "[1]"):
        answer = send(api, png(), bindings=text)
        assert answer.status_code == 400, text
        assert answer.json()["errors"][0]["field"].startswith("bindings"), text
    product = create(api)
    twice = send(api, png(), bindings=json.dumps([binding(product), binding(product)]))
    assert [(error["field"], error["code"]) for error in twice.json()["errors"]] == [("bindings.1", "duplicate")]
    sweep()
    assert counts(supplier) == before


def test_delete_gives_the_bytes_back_and_the_object_follows(api, supplier):
    made = ready(api)
    link = made["content_url"]
    product = create(api)
    api.patch(f"/v1/files/{made['id']}", json={"bindings": [binding(product)]})
    bound = api.delete(f"/v1/files/{made['id']}")
    assert (bound.status_code, bound.json()["code"], bound.json()["bound_to"]) == (409, "file_bound", ["product"])
    assert len(objects(supplier.id)) == 1
    api.patch(f"/v1/files/{made['id']}", json={"bindings": []})
    assert api.delete(f"/v1/files/{made['id']}").status_code == 204
    assert api.get(f"/v1/files/{made['id']}").status_code == 404
    assert Api().client.get(link).status_code == 404
    sweep()
    assert counts(supplier) == (0, 0, 0, 0)
    assert events(supplier, made["id"])[-1] == "file.deleted"


def test_evidence_stays_bound(api, supplier):
    made = upload(api)
    with tenant_context(supplier.id):
        FileBinding.objects.create(
            tenant_id=supplier.id, file_id=made["id"], resource_type="invoice", resource_id=uuid7()
        )
    for answer in (
        api.patch(f"/v1/files/{made['id']}", json={"bindings": []}),
        api.delete(f"/v1/files/{made['id']}"),
    ):
        assert (answer.status_code, answer.json()["code"], answer.json()["bound_to"]) == (
            409,
            "file_bound",
            ["invoice"],
        )
    with tenant_context(supplier.id):
        assert FileBinding.objects.filter(tenant_id=supplier.id).count() == 1


def test_rows_of_other_rooms_hold_a_file_as_evidence(api, supplier, monkeypatch):
    from suppliers.files import evidence

    monkeypatch.setattr(evidence, "_HOLDERS", {})
    evidence.hold_as_evidence(
        "licence",
        "SELECT 1 FROM suppliers_product l WHERE l.tenant_id = $1 AND l.manufacturer_part_number = $2",
    )
    made, free = upload(api), upload(api)
    create(api, manufacturer_part_number=made["id"])
    held = api.delete(f"/v1/files/{made['id']}")
    assert (held.status_code, held.json()["bound_to"]) == (409, ["licence"])
    assert api.delete(f"/v1/files/{free['id']}").status_code == 204
    monkeypatch.undo()
    evidence._statement.cache_clear()


def test_used_up_quota_refuses_and_keeps_nothing(api, supplier):
    content = png()
    limit(supplier, len(content) * 2 - 1)
    upload(api, content)
    before = counts(supplier)
    refused = send(api, png())
    assert (refused.status_code, refused.json()["code"], refused.json()["quota"]) == (
        403,
        "quota_exceeded",
        "storage_bytes",
    )
    assert counts(supplier) == before
    assert send(api, content).status_code == 200  # the same file needs no more


@pytest.mark.parametrize("kind", ["provider", "pharmacy"])
def test_tenants_of_any_kind_have_files(kind):
    tenant = provision(kind)
    buyer = as_member(tenant, ("buyer",))
    made = upload(buyer, pdf(), purpose="message", name="a.pdf")
    assert buyer.get(f"/v1/files/{made['id']}").status_code == 200
    own = {"resource_type": "supplier", "resource_id": str(tenant.id)}
    refused = buyer.patch(f"/v1/files/{made['id']}", json={"bindings": [own]})
    assert refused.json()["errors"][0]["code"] == "unknown_resource"


def test_foreign_ids_are_404_on_every_route(api):
    other = provision("supplier")
    theirs = upload(Api(key=api_key(other), tenant=other))
    path = f"/v1/files/{theirs['id']}"
    for answer in (api.get(path), api.patch(path, json={"title": "Mine"}), api.delete(path)):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    with tenant_context(other.id):
        assert File.objects.get(tenant_id=other.id, pk=theirs["id"]).title == ""
    assert api.get("/v1/files").json()["data"]["total"] == 0


def test_scopes_are_demanded(supplier):
    person, _ = member(supplier, ("supplier_admin",))
    reader = Api(token=bearer(person, scopes="openid files.read"), tenant=supplier)
    refused = send(reader, png())
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert counts(supplier) == (0, 0, 0, 0)
    assert reader.get("/v1/files").status_code == 200


def test_list_takes_as_many_statements_for_three_files_as_for_one(api):
    from bench.statements import recording

    ready(api)
    with recording() as one:
        api.get("/v1/files")
    ready(api)
    ready(api)
    with recording() as three:
        api.get("/v1/files")
    assert len(one) == len(three)


def test_upload_that_ended_before_its_row_leaves_only_what_the_sweep_removes(supplier):
    import io

    from api.multipart import FilePart
    from suppliers.files.actions import store_upload

    content = png()
    part = FilePart("file", "a.png", "", len(content), hashlib.sha256(content).hexdigest(), io.BytesIO(content))
    at = now()
    assert store_upload(supplier.id, {"file": part, "name": "a.png", "purpose": "product_image"}, at)
    assert counts(supplier) == (0, 1, 1, len(content))
    sweep(at + timedelta(minutes=14))
    assert counts(supplier) == (0, 1, 1, len(content))
    sweep(at + timedelta(minutes=16))
    assert counts(supplier) == (0, 0, 0, 0)


def test_many_uploads_of_one_content_at_once_are_one_file(api, supplier):
    from tests.races import race

    content = png()
    found = race(*[lambda: send(api, content).status_code] * 8)
    assert sorted(found) == [200] * 7 + [201]
    sweep()
    assert counts(supplier) == (1, 0, 1, len(content))


def test_many_uploads_beyond_the_quota_at_once_pass_no_limit(api, supplier):
    from tests.races import race

    def sent(text):
        return send(api, png(text)).status_code

    size = len(png("a" * 16))
    limit(supplier, size * 3)
    found = race(*[partial(sent, f"{number:016}") for number in range(8)])
    assert sorted(found) == [201] * 3 + [403] * 5
    sweep()
    assert counts(supplier) == (3, 0, 3, size * 3)
