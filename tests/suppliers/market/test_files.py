"""Files of the catalog as buyers read them: each that shows what the buyer may see, and no other."""

import json
from uuid import UUID

import pytest

from core.db import tenant_context
from core.ids import uuid7
from suppliers.company.models import SupplierProfile
from suppliers.marketplace.models import Offer
from tests.factories import Api
from tests.suppliers.files.conftest import folder  # noqa: F401  # the store of the tests
from tests.suppliers.files.samples import png, ready, upload
from tests.suppliers.inventory import shelf as shelves


def bound(resource_type, resource_id):
    return json.dumps([{"resource_type": resource_type, "resource_id": str(resource_id)}])


def image(shelf, product, *, visibility="catalog", content=None):
    return ready(shelf.api, content, visibility=visibility, bindings=bound("product", product["id"]))


def hidden(one, file_id):
    """The answer is that for a file that does not exist, but for the request's own marks."""
    found, nothing = one.api.get(f"/v1/files/{file_id}"), one.api.get(f"/v1/files/{uuid7()}")
    assert found.status_code == nothing.status_code == 404
    told = [{key: value for key, value in answer.json().items() if key in ("code", "title", "detail", "type")}
            for answer in (found, nothing)]  # fmt: skip
    assert told[0] == told[1]
    assert told[0]["detail"] == "No such file."
    return True


def test_buyer_reads_a_file_of_a_product_that_is_offered_to_it(shelf, buyer, other):
    product, content = shelf.product(), png()
    offer = shelf.offer(product, to=[buyer])
    made = image(shelf, product, content=content)
    answer = buyer.api.get(f"/v1/files/{made['id']}")
    assert answer.status_code == 200, answer.content
    seen = answer.json()["data"]
    assert seen | {"content_url": ""} == made | {"content_url": "", "bindings": []}
    read = Api().client.get(seen["content_url"])
    assert b"".join(read.streaming_content) == content
    read.close()
    tag = answer.headers["ETag"]
    assert buyer.api.get(f"/v1/files/{made['id']}", headers={"If-None-Match": tag}).status_code == 304
    assert tag.startswith(f'"{made["version"]};')
    assert buyer.api.get(f"/v1/files/{made['id']}?fields=name").json()["data"] == {
        "id": made["id"],
        "name": "front.png",
    }
    assert hidden(other, made["id"])
    shelf.exclude(offer, buyer)
    assert hidden(buyer, made["id"])


def test_buyer_reads_a_file_of_an_offer_that_it_may_see(shelf, buyer, other):
    product = shelf.product()
    offer = shelf.offer(product, to=[buyer])
    made = ready(shelf.api, visibility="catalog", bindings=bound("offer", offer))
    assert buyer.api.get(f"/v1/files/{made['id']}").json()["data"]["bindings"] == []
    assert hidden(other, made["id"])


@pytest.mark.parametrize("visibility", ["private", "counterparty"])
def test_file_that_is_not_for_the_catalog_stays_hidden(visibility, shelf, buyer):
    product = shelf.product()
    shelf.offer(product)
    assert hidden(buyer, image(shelf, product, visibility=visibility)["id"])


def test_file_in_quarantine_or_of_nothing_on_offer_stays_hidden(shelf, buyer):
    product, draft = shelf.product(), shelf.product()
    shelf.offer(product)
    assert hidden(buyer, image(shelf, draft)["id"])
    assert hidden(buyer, ready(shelf.api, visibility="catalog", bindings=bound("supplier", shelf.id))["id"])
    assert hidden(buyer, ready(shelf.api, visibility="catalog")["id"])
    scanning = upload(shelf.api, visibility="catalog", bindings=bound("product", product["id"]))
    assert hidden(buyer, scanning["id"])


@pytest.mark.parametrize("columns", [{"status": "paused"}, {"valid_to": "2026-01-01"}])
def test_file_goes_with_the_offer(columns, shelf, buyer):
    product = shelf.product()
    offer = shelf.offer(product)
    made = image(shelf, product)
    assert buyer.api.get(f"/v1/files/{made['id']}").status_code == 200
    with tenant_context(shelf.id):
        Offer.objects.filter(tenant_id=shelf.id, pk=offer).update(**columns)
    assert hidden(buyer, made["id"])


def test_file_goes_with_its_visibility_and_with_the_supplier_s_standing(shelf, buyer):
    product = shelf.product()
    shelf.offer(product)
    made = image(shelf, product)
    assert shelf.api.patch(f"/v1/files/{made['id']}", json={"visibility": "private"}).status_code == 200
    assert hidden(buyer, made["id"])
    assert shelf.api.patch(f"/v1/files/{made['id']}", json={"visibility": "catalog"}).status_code == 200
    assert buyer.api.get(f"/v1/files/{made['id']}").status_code == 200
    with tenant_context(shelf.id):
        SupplierProfile.objects.filter(tenant_id=shelf.id).update(qualification_status="suspended")
    assert hidden(buyer, made["id"])


def test_buyer_lists_own_files_only_and_changes_no_other(shelf, buyer):
    product = shelf.product()
    shelf.offer(product)
    made = image(shelf, product)
    assert buyer.api.get("/v1/files").json()["data"]["items"] == []
    assert buyer.api.patch(f"/v1/files/{made['id']}", json={"title": "Mine"}).status_code == 404
    assert buyer.api.delete(f"/v1/files/{made['id']}").status_code == 404
    assert shelf.api.get(f"/v1/files/{made['id']}").json()["data"] | {"content_url": ""} == made | {"content_url": ""}


def test_member_without_the_scope_learns_nothing(shelf):
    product = shelf.product()
    shelf.offer(product)
    made = image(shelf, product)
    approver = shelves.buyer(roles=("approver",))
    assert approver.api.get(f"/v1/files/{made['id']}").status_code == 403


def test_media_of_the_catalog_are_those_that_are_for_it(shelf, buyer):
    product = shelf.product()
    shelf.offer(product)
    shown, private = image(shelf, product), image(shelf, product, visibility="private")
    own = shelf.api.get(f"/v1/products/{product['id']}").json()["data"]["media"]
    assert {one["file_id"] for one in own} == {shown["id"], private["id"]}
    seen = buyer.api.get(f"/v1/procurement/products/{product['id']}").json()["data"]["media"]
    assert [UUID(one["file_id"]) for one in seen] == [UUID(shown["id"])]
