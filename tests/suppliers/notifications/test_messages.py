"""Messages about a document: two rows, one thread, and nobody else."""

from uuid import uuid4

import pytest

from core.clock import now
from core.db import tenant_context
from ledger import public as ledger
from organizations.models import Tenant
from suppliers.files.models import File, FileBinding
from suppliers.files.states import FileStatus
from suppliers.notifications.models import Notification
from tests import factories
from tests.races import race
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.notifications.inbox import PATH, counted, data, facts, message, reserved, rows, sound, state


@pytest.fixture
def document(shelf, buyer):
    return reserved(shelf, buyer)


def a_file(tenant, *, status="ready", visibility="counterparty", **more):
    given = {
        "name": "photo.png",
        "purpose": "message",
        "content_type": "image/png",
        "size": 5,
        "sha256": uuid4().hex * 2,
    }
    with tenant_context(tenant.id):
        row = File(tenant_id=tenant.id, visibility=visibility, object_key=uuid4().hex, check_at=now(), **given | more)
        if status != FileStatus.AWAITING_UPLOAD:
            row.receive()
        if status == FileStatus.READY:
            row.pass_scan()
        row.save(force_insert=True)
    return str(row.id)


def test_message_is_a_row_of_each_side_in_one_thread(shelf, buyer, document):
    sent = data(message(buyer.api, document, "Can you hold it?"), 201)
    (own,), (theirs,) = rows(buyer), rows(shelf)
    assert str(own.id) == sent["id"] != str(theirs.id)
    assert (sent["kind"], sent["type"], sent["severity"], sent["body"]) == (
        "message",
        "message",
        "info",
        "Can you hold it?",
    )
    assert sent["resource"] == {"type": "reservation", "id": document}
    assert {str(one.thread_id) for one in (own, theirs)} == {sent["thread_id"]} == {document}
    assert sent["read_at"] is not None
    assert [one["id"] for one in sent["thread"]] == [sent["id"]]
    received = data(shelf.api.get(f"{PATH}/{theirs.id}"))
    assert (received["body"], received["read_at"], received["thread_total"]) == ("Can you hold it?", None, 1)
    assert counted(shelf) == counted(buyer) == {"current": 1}
    sound(shelf, buyer)


def test_other_side_sees_the_tenant_and_not_the_person(shelf, buyer, document):
    sent = data(message(buyer.api, document), 201)
    (theirs,) = rows(shelf)
    seen = data(shelf.api.get(f"{PATH}/{theirs.id}"))
    name = buyer.tenant.name
    assert seen["sender"] == {"tenant_id": str(buyer.id), "tenant_name": name, "user_id": None, "user_name": None}
    assert sent["sender"]["user_id"]
    assert sent["sender"]["user_name"]
    assert sent["sender"]["user_id"] not in shelf.api.get(f"{PATH}/{theirs.id}").content.decode()
    assert theirs.sender_id is None


def test_facts_of_both_sides_name_their_own_row_and_no_person(shelf, buyer, document):
    request = {"X-Request-Id": "the-buyers-own"}
    answer = buyer.api.post(
        PATH, json={"resource": {"type": "reservation", "id": document}, "body": "Secret words"}, headers=request
    )
    data(answer, 201)
    (own,), (theirs,) = rows(buyer), rows(shelf)
    payload = {"thread_id": document, "about_type": "reservation", "about_id": document, "by": "buyer"}
    assert facts(buyer) == [("message.sent", own.id, payload)]
    assert facts(shelf) == [("message.sent", theirs.id, payload)]
    with tenant_context(shelf.id):
        event = ledger.Event.objects.get(tenant_id=shelf.id, type="message.sent")
    assert (event.subject_kind, event.membership_id) == ("system", None)
    assert event.request_id != "the-buyers-own"


def test_answer_joins_the_thread_on_both_sides(shelf, buyer, document):
    data(message(buyer.api, document, "One?"), 201)
    data(message(shelf.api, document, "Two."), 201)
    last = data(message(buyer.api, document, "Three!"), 201)
    assert [one["body"] for one in last["thread"]] == ["One?", "Two.", "Three!"]
    newest = rows(shelf)[-1]
    thread = data(shelf.api.get(f"{PATH}/{newest.id}"))["thread"]
    assert [one["body"] for one in thread] == ["One?", "Two.", "Three!"]
    assert [one["sender"]["user_id"] is None for one in thread] == [True, False, True]
    assert [one["by"] for _, _, one in facts(shelf)] == ["buyer", "supplier", "buyer"]


def test_long_thread_shows_its_last_hundred(buyer, document):
    data(message(buyer.api, document, "first"), 201)
    (own,) = rows(buyer)
    with tenant_context(buyer.id):
        values = {field.attname: getattr(own, field.attname) for field in Notification._meta.concrete_fields}
        Notification.objects.bulk_create([Notification(**values | {"id": uuid4(), "body": str(n)}) for n in range(100)])
    seen = data(buyer.api.get(f"{PATH}/{own.id}"))
    assert (len(seen["thread"]), seen["thread_total"]) == (100, 101)


@pytest.mark.parametrize("who", ["other", "second"])
def test_stranger_gets_not_found_in_the_words_of_nothing(shelf, buyer, other, document, who):
    stranger = other if who == "other" else shelves.shelf()
    before = state(shelf, buyer, stranger)
    refusal = refused(message(stranger.api, document), 404, "not_found")
    nothing = refused(message(stranger.api, str(uuid4())), 404, "not_found")
    assert refusal["detail"] == nothing["detail"]
    assert state(shelf, buyer, stranger) == before


def test_closed_party_is_told_nothing(shelf, buyer, document):
    for status in ("offboarding", "closed"):
        Tenant.objects.filter(pk=buyer.id).update(status=status)
    before = state(shelf)
    refused(message(shelf.api, document), 409, "party_closed")
    assert state(shelf) == before


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"body": ""}, "body", "blank"),
        ({"body": "x" * 5001}, "body", "max_length"),
        ({"resource": {"type": "letter", "id": str(uuid4())}}, "resource.type", "invalid_choice"),
        ({"resource": {"type": "reservation", "id": "no"}}, "resource.id", "invalid"),
        ({"resource": {"type": "reservation"}}, "resource.id", "required"),
        ({"file_ids": ["0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"] * 2}, "file_ids", "duplicate"),
        ({"file_ids": ["0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"]}, "file_ids.0", "unknown_file"),
        ({"title": "Mine"}, "title", "unknown_field"),
    ],
)
def test_malformed_message_changes_nothing(shelf, buyer, document, change, field, code):
    before = state(shelf, buyer)
    answer = buyer.api.post(PATH, json={"resource": {"type": "reservation", "id": document}, "body": "x"} | change)
    assert answer.status_code == 400
    assert (field, code) in [(one["field"], one["code"]) for one in answer.json()["errors"]]
    assert state(shelf, buyer) == before


def test_without_the_scope_nothing_is_sent(shelf, buyer, document):
    reader = factories.Api(key=factories.api_key(shelf.tenant, ["supplier_integration"]), tenant=shelf.tenant)
    before = state(shelf, buyer)
    refused(message(reader, document), 403, "insufficient_scope")
    assert state(shelf, buyer) == before
    assert reader.get(PATH).status_code == 200


def test_key_of_the_supplier_writes_as_the_supplier(shelf, buyer, document):
    key = factories.Api(key=factories.api_key(shelf.tenant), tenant=shelf.tenant)
    sent = data(message(key, document), 201)
    assert sent["read_at"] is not None
    assert rows(buyer)[0].from_tenant_id == shelf.id
    assert data(shelf.api.get(f"{PATH}/{sent['id']}"))["read_at"] is None  # a person's mark is another one


def test_repeat_with_one_key_sends_once(shelf, buyer, document):
    body = {"resource": {"type": "reservation", "id": document}, "body": "Once"}
    answers = [buyer.api.post(PATH, json=body, headers={"Idempotency-Key": "k1"}) for _ in range(2)]
    assert [one.status_code for one in answers] == [201, 201]
    assert answers[0].json()["data"]["id"] == answers[1].json()["data"]["id"]
    assert (len(rows(buyer)), len(rows(shelf))) == (1, 1)


def test_both_sides_at_once_write_into_one_thread(shelf, buyer, document):
    clients = [buyer.client(), buyer.client(), shelves.Buyer(shelf.tenant, shelf.api).client()]
    answers = race(*[lambda api=api: message(api, document) for api in clients * 2])
    assert [one.status_code for one in answers] == [201] * 6
    assert len(rows(buyer)) == len(rows(shelf)) == 6
    assert {one.thread_id for one in rows(buyer)} == {one.thread_id for one in rows(shelf)}
    assert counted(buyer) == counted(shelf) == {"current": 6}


def test_files_are_handed_over_with_links_and_stay(shelf, buyer, document):
    key = a_file(buyer.tenant)
    sent = data(message(buyer.api, document, file_ids=[key]), 201)
    (theirs,) = rows(shelf)
    seen = data(shelf.api.get(f"{PATH}/{theirs.id}"))
    for one in (sent, seen):
        (file,) = one["files"]
        assert {name: file[name] for name in ("id", "name", "size")} == {"id": key, "name": "photo.png", "size": 5}
        assert "/v1/files/content/hpf_" in file["content_url"]
        assert one["thread"][0]["files"][0]["id"] == key
    (listed,) = data(shelf.api.get(PATH))["items"]
    assert "content_url" not in listed["files"][0]
    with tenant_context(buyer.id):
        (binding,) = FileBinding.objects.filter(tenant_id=buyer.id)
    assert (binding.resource_type, str(binding.resource_id)) == ("message", sent["id"])
    admin = factories.as_member(buyer.tenant, ["buyer"])
    refused(admin.delete(f"/v1/files/{key}"), 409, "file_bound")


@pytest.mark.parametrize(
    ("made", "code"),
    [
        ({"visibility": "private"}, "file_private"),
        ({"status": "scanning"}, "file_not_ready"),
        ({"of": "other"}, "unknown_file"),
    ],
)
def test_file_that_cannot_be_handed_over_is_refused(shelf, buyer, other, document, made, code):
    owner = other.tenant if made.pop("of", "") else buyer.tenant
    key = a_file(owner, **made)
    before = state(shelf, buyer)
    answer = message(buyer.api, document, file_ids=[key])
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, code)
    assert state(shelf, buyer) == before


def test_member_of_another_place_does_not_see_the_document(shelf, buyer, document):
    place = shelf.place("Hall 9")
    person, _ = factories.member(shelf.tenant, ["supplier_warehouse"], location_ids=[place])
    limited = factories.Api(token=factories.bearer(person), tenant=shelf.tenant)
    before = state(shelf, buyer)
    refused(message(limited, document), 404, "not_found")
    assert state(shelf, buyer) == before
    data(message(buyer.api, document), 201)
    assert data(limited.get(PATH))["total"] == 0
    assert data(shelf.api.get(PATH))["total"] == 1


def test_thread_shows_only_what_a_limited_member_reaches(shelf, buyer, document):
    here, elsewhere = shelf.places["hall"], shelf.place("Hall 9")
    person, _ = factories.member(shelf.tenant, ["supplier_warehouse"], location_ids=[here])
    limited = factories.Api(token=factories.bearer(person), tenant=shelf.tenant)
    for body in ("here", "elsewhere"):
        data(message(buyer.api, document, body), 201)
    mine, other = rows(shelf)
    with tenant_context(shelf.id):
        Notification.objects.filter(tenant_id=shelf.id, pk=other.pk).update(location_id=elsewhere)
    seen = data(limited.get(f"{PATH}/{mine.id}"))
    assert ([one["body"] for one in seen["thread"]], seen["thread_total"]) == (["here"], 1)
    assert data(shelf.api.get(f"{PATH}/{mine.id}"))["thread_total"] == 2
