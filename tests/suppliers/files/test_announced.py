"""Contents that clients send by themselves: announced as JSON, put to a signed address, measured afterwards."""

import hashlib
import json
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from suppliers.files import scanning, storing
from suppliers.files.models import File
from suppliers.files.states import MOST_BYTES
from tests.factories import Api
from tests.suppliers.files.samples import announcement, counts, limit, objects, pdf, png, send, sweep, used


def announce(api, content, **more):
    answer = api.post("/v1/files", json=announcement(content, **more))
    assert answer.status_code == 201, answer.content
    return answer.json()["data"]


def put(made, content):
    target = made["upload"]
    assert target["method"] == "PUT"
    return Api().client.generic(
        "PUT", urlsplit(target["url"]).path, content, content_type=target["headers"]["Content-Type"]
    )


def read(api, made):
    return api.get(f"/v1/files/{made['id']}").json()["data"]


def test_announced_content_is_put_measured_scanned_and_read(api, supplier):
    content = png()
    made = announce(api, content, title="Front")
    assert (made["status"], made["content_url"], made["version"]) == ("awaiting_upload", None, 1)
    assert made["upload"]["url"].startswith("http://testserver/v1/files/content/hpf_")
    assert used(supplier) == len(content)
    assert "upload" not in read(api, made)
    assert put(made, content).status_code == 204
    scanning.scan_files(at=now())  # measured, then scanned in the same round
    found = read(api, made)
    assert (found["status"], found["sha256"]) == ("ready", hashlib.sha256(content).hexdigest())
    answer = Api().client.get(found["content_url"])
    assert b"".join(answer.streaming_content) == content
    answer.close()
    sweep(now() + timedelta(hours=1))
    assert counts(supplier) == (1, 0, 1, len(content))


def test_link_that_was_used_takes_no_second_content(api, supplier):
    content = png()
    made = announce(api, content)
    put(made, content)
    scanning.scan_files(at=now())
    before = objects(supplier.id)
    assert put(made, content).status_code == 404
    assert objects(supplier.id) == before


def test_what_is_put_over_it_later_is_never_read(api, supplier):
    """A link of the store itself still takes contents after the first one was measured."""
    content = png()
    made = announce(api, content)
    put(made, content)
    scanning.scan_files(at=now())
    import io

    storing.put(storing.incoming_key(supplier.id, made["id"]), io.BytesIO(b"something else"))
    answer = Api().client.get(read(api, made)["content_url"])
    assert b"".join(answer.streaming_content) == content
    answer.close()


def test_content_of_another_size_is_refused_at_once(api, supplier):
    made = announce(api, png("a"))
    for wrong in (b"", b"x", png("a") + b"x"):
        answer = put(made, wrong)
        assert (answer.status_code, answer.json()["code"]) == (400, "wrong_size")
    assert objects(supplier.id) == set()
    assert read(api, made)["status"] == "awaiting_upload"


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (lambda content: content[:-1] + b"x", "wrong_content"),
        (lambda content: content + b"x", "wrong_size"),
    ],
)
def test_content_that_is_not_what_was_announced_is_rejected(api, supplier, sent, reason):
    import io

    content = png()
    made = announce(api, content)
    storing.put(storing.incoming_key(supplier.id, made["id"]), io.BytesIO(sent(content)))
    scanning.scan_files(at=now())
    found = read(api, made)
    assert (found["status"], found["rejection_reason"], found["content_url"]) == ("rejected", reason, None)
    assert used(supplier) == 0
    sweep(now() + timedelta(hours=1))
    assert counts(supplier) == (1, 0, 0, 0)
    assert announce(api, content)["id"] != made["id"]  # it may be sent anew


def test_disguised_content_is_rejected(api, supplier):
    content = pdf()
    made = announce(api, content)  # as image/png
    put(made, content)
    scanning.scan_files(at=now())
    found = read(api, made)
    assert (found["status"], found["rejection_reason"]) == ("rejected", "unsupported_type")
    assert used(supplier) == 0


def test_content_that_never_comes_is_rejected_in_the_end(api, supplier):
    made = announce(api, png())
    at = now()
    scanning.scan_files(at=at + timedelta(minutes=16))
    assert read(api, made)["status"] == "awaiting_upload"  # what was sent in time may arrive a little later
    scanning.scan_files(at=at + timedelta(minutes=21))
    found = read(api, made)
    assert (found["status"], found["rejection_reason"]) == ("rejected", "upload_expired")
    assert used(supplier) == 0
    assert api.delete(f"/v1/files/{made['id']}").status_code == 204
    sweep(at + timedelta(hours=1))
    assert counts(supplier) == (0, 0, 0, 0)


def test_same_content_is_answered_with_the_address_again(api, supplier):
    content = png()
    made = announce(api, content)
    again = api.post("/v1/files", json=announcement(content))
    assert (again.status_code, again.json()["data"]["id"]) == (200, made["id"])
    assert put(again.json()["data"], content).status_code == 204
    assert used(supplier) == len(content)
    scanning.scan_files(at=now())
    known = api.post("/v1/files", json=announcement(content)).json()["data"]
    assert (known["status"], known["upload"]) == ("ready", None)
    assert send(api, content).status_code == 200


def test_announced_content_may_come_as_a_form(api, supplier):
    content = png()
    made = announce(api, content, title="Front")
    limit(supplier, len(content))  # the announcement has taken it
    again = send(api, content, title="Other")
    shown = again.json()["data"]
    assert (again.status_code, shown["id"], shown["status"], shown["title"]) == (200, made["id"], "scanning", "Front")
    assert used(supplier) == len(content)
    scanning.scan_files(at=now())
    found = read(api, made)
    assert (found["status"], found["version"]) == ("ready", 3)
    assert put(made, content).status_code == 404
    sweep(now() + timedelta(hours=1))
    assert counts(supplier) == (1, 0, 1, len(content))


def test_form_of_another_size_than_announced_is_refused(api, supplier):
    content = png()
    made = announce(api, content, size=len(content) + 1)
    answer = send(api, content)
    assert (answer.status_code, answer.json()["code"]) == (400, "wrong_size")
    assert read(api, made)["status"] == "awaiting_upload"
    sweep(now() + timedelta(hours=1))
    assert objects(supplier.id) == set()


def test_announcement_with_a_key_is_replayed(api, supplier):
    content, key = png(), {"Idempotency-Key": str(uuid7())}
    first = api.post("/v1/files", json=announcement(content), headers=key)
    again = api.post("/v1/files", json=announcement(content), headers=key)
    assert (again.status_code, again.content) == (201, first.content)
    assert counts(supplier)[0] == 1


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"content_type": "image/svg+xml"}, 400, "unsupported_type"),
        ({"content_type": "application/pdf"}, 400, "unsupported_type"),
        ({"name": "a.exe"}, 400, "unsupported_type"),
        ({"size": MOST_BYTES + 1}, 413, "file_too_large"),
        ({"size": 0}, 400, "validation_error"),
        ({"sha256": "x" * 64}, 400, "validation_error"),
        ({"name": "x" * 256}, 400, "validation_error"),
        ({"name": "\u202e"}, 400, "validation_error"),
        ({"name": "a\x00.png"}, 400, "nul_character"),
        ({"purpose": "fun"}, 400, "validation_error"),
        ({"status": "ready"}, 400, "unknown_field"),
        ({"bindings": [{"resource_type": "order", "resource_id": str(uuid7())}]}, 400, "validation_error"),
    ],
)
def test_announcement_that_is_none_is_refused(api, supplier, change, status, code):
    answer = api.post("/v1/files", json=announcement(png(), **change))
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.content
    assert counts(supplier) == (0, 0, 0, 0)


def test_announcement_beyond_the_quota_is_refused(api, supplier):
    limit(supplier, 10)
    answer = api.post("/v1/files", json=announcement(png()))
    assert (answer.status_code, answer.json()["code"]) == (403, "quota_exceeded")
    assert counts(supplier) == (0, 0, 0, 0)


def test_file_that_awaits_its_content_can_be_deleted(api, supplier):
    made = announce(api, png("x"))
    put(made, png("x"))
    assert api.delete(f"/v1/files/{made['id']}").status_code == 204
    scanning.scan_files(at=now())
    assert put(made, png("x")).status_code == 404
    sweep(now() + timedelta(hours=1))
    assert counts(supplier) == (0, 0, 0, 0)


def test_worker_that_ended_between_copy_and_row_leaves_what_the_next_one_finishes(api, supplier, monkeypatch):
    from suppliers.files import receiving

    content = png()
    made = announce(api, content)
    put(made, content)

    def end(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(receiving, "_receive", end)
    with pytest.raises(KeyboardInterrupt):
        scanning.scan_files(at=now())
    monkeypatch.undo()
    scanning.scan_files(at=now())
    assert read(api, made)["status"] == "awaiting_upload"  # claimed by the one that ended
    scanning.scan_files(at=now() + timedelta(minutes=6))
    assert read(api, made)["status"] == "ready"
    with tenant_context(supplier.id):
        assert File.objects.get(tenant_id=supplier.id).attempts <= 1
    sweep(now() + timedelta(hours=1))
    assert counts(supplier) == (1, 0, 1, len(content))
    assert json.dumps(read(api, made)["bindings"]) == "[]"
