"""A document of two parties over HTTP: what each sees, may do and is told, and what it costs."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from bench.statements import recording
from core import clock
from core.actor import SYSTEM, system_actor
from core.db import tenant_context
from core.invariants import checks
from organizations.actions.tenants import resume_tenant, suspend_tenant
from organizations.management.base import locked_tenant
from tests import factories
from tests.organizations.received.parcels import Parcel, ReceivedParcel, ReceivedParcelLine
from tests.organizations.received.sides import broken, data, draft, everything, told


def refused(answer, status, code):
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.content


def copy_row(world):
    with tenant_context(world.carrier.id):
        return ReceivedParcel.objects.get(tenant_id=world.carrier.id, pk=world.id)


def own_row(world):
    with tenant_context(world.sender.id):
        return Parcel.objects.get(tenant_id=world.sender.id, pk=world.id)


# -- what each sees ----------------------------------------------------------------------------------------------------


def test_draft_is_known_to_its_sender_only(drafted):
    assert drafted.carrier.api.get(drafted.copy).status_code == 404
    assert drafted.carrier.api.post(f"{drafted.copy}/weigh").status_code == 404
    assert drafted.seen_by_sender()["status"] == "draft"
    assert broken(drafted.sender, drafted.carrier) == []


def test_copy_holds_what_the_other_party_may_see(sent):
    own, copy = sent.seen_by_sender(), sent.seen_by_carrier()
    assert own.pop("internal_note") == "secret-of-the-sender"
    assert own.pop("version") == 2
    assert copy == own
    assert [line["sku"] for line in copy["lines"]] == ["s0", "s1"]
    assert broken(sent.sender, sent.carrier) == []


def listed(side, path):
    return data(side.api.get(path))["items"]


def test_lists_hold_own_documents_or_received_ones(sent):
    assert [one["id"] for one in listed(sent.sender, "/v1/parcels")] == [sent.id]
    assert listed(sent.sender, "/v1/received-parcels") == []
    received = listed(sent.carrier, "/v1/received-parcels?fields=number,lines")
    assert received == [{name: sent.seen_by_carrier()[name] for name in ("id", "number", "lines")}]
    assert listed(sent.carrier, "/v1/parcels") == []


def test_write_of_the_other_party_answers_its_copy(sent):
    answer = sent.carrier.api.post(f"{sent.copy}/accept")
    assert data(answer) == sent.seen_by_carrier() | {"status": "accepted"}
    assert answer.headers["ETag"] == '"3"' == sent.carrier.api.get(sent.copy).headers["ETag"]
    assert sent.seen_by_sender()["status"] == "accepted"
    assert broken(sent.sender, sent.carrier) == []


def test_change_that_the_other_party_does_not_see_leaves_its_copy(sent):
    before = copy_row(sent)
    answer = sent.sender.api.post(f"{sent.own}/note", json={"text": "call the doctor"})
    assert (data(answer)["version"], own_row(sent).shared_version) == (3, 2)
    after = copy_row(sent)
    assert (after.version, after.updated_at, after.representation) == (2, before.updated_at, before.representation)
    assert sent.carrier.api.get(sent.copy).headers["ETag"] == '"2"'
    assert "call the doctor" not in str(vars(after))
    assert [one.type for one in told(sent.carrier, sent.id)] == ["test_parcel.sent"]
    assert broken(sent.sender, sent.carrier) == []


def test_each_side_has_its_own_version_behind_if_match(sent):
    data(sent.sender.api.post(f"{sent.own}/note", json={"text": "x"}))  # version 3, shared version 2
    refused(sent.carrier.api.post(f"{sent.copy}/weigh", headers={"If-Match": '"3"'}), 409, "version_conflict")
    refused(sent.sender.api.post(f"{sent.own}/weigh", headers={"If-Match": '"2"'}), 409, "version_conflict")
    assert own_row(sent).weighed == 0
    data(sent.carrier.api.post(f"{sent.copy}/weigh", headers={"If-Match": '"2"'}))
    data(sent.sender.api.post(f"{sent.own}/weigh", headers={"If-Match": '"4"'}))
    assert copy_row(sent).weighed == own_row(sent).weighed == 2
    assert broken(sent.sender, sent.carrier) == []


def test_repeat_with_one_key_changes_once(sent):
    first, second = (sent.carrier.api.post(f"{sent.copy}/weigh", headers={"Idempotency-Key": "one"}) for _ in range(2))
    assert first.content == second.content
    assert second.headers["Idempotency-Replayed"] == "true"
    assert own_row(sent).weighed == copy_row(sent).weighed == 1
    other = sent.sender.api.post(f"{sent.own}/weigh", headers={"Idempotency-Key": "one"})
    assert data(other)["weighed"] == 2  # the keys of each side are its own


def index_of(world):
    with tenant_context(world.carrier.id):
        found = ReceivedParcelLine.objects.filter(tenant_id=world.carrier.id, document_id=world.id)
        return {(line.line_no, line.sku): (str(line.id), str(line.product_id)) for line in found}


def test_index_of_lines_follows_the_lines(sent):
    def as_served():
        return {(one["line_no"], one["sku"]): (one["id"], one["product_id"]) for one in sent.seen_by_carrier()["lines"]}

    before = index_of(sent)
    assert sorted(before) == [(1, "s0"), (2, "s1")]
    assert before == as_served()
    data(sent.sender.api.post(f"{sent.own}/repack", json={"lines": [{"sku": "new", "quantity": 9}]}))
    after = index_of(sent)
    assert sorted(after) == [(2, "changed"), (10, "new")]
    assert after == as_served()
    assert after[2, "changed"] == before[2, "s1"]
    assert broken(sent.sender, sent.carrier) == []


# -- who may -----------------------------------------------------------------------------------------------------------


def test_action_of_one_party_is_refused_to_the_other(sent):
    refused(sent.carrier.api.post(f"/v1/parcels/{sent.id}/note", json={"text": "x"}), 403, "counterparty_only")
    refused(sent.sender.api.post(f"/v1/received-parcels/{sent.id}/accept"), 403, "counterparty_only")
    assert own_row(sent).version == 2


FOREIGN = ["parcels/{}/send", "parcels/{}/weigh", "parcels/{}/note"]
FOREIGN += ["received-parcels/{}/accept", "received-parcels/{}/deliver", "received-parcels/{}/weigh"]


@pytest.mark.parametrize("path", FOREIGN)
def test_foreign_id_is_unknown(sent, stranger, path):
    before = vars(copy_row(sent)) | {"_state": None}
    path = f"/v1/{path.format(sent.id)}"
    refused(stranger.api.get(path.rpartition("/")[0]), 404, "not_found")
    refused(stranger.api.post(path, json={"text": "x"}), 404, "not_found")
    assert own_row(sent).version == 2
    assert vars(copy_row(sent)) | {"_state": None} == before
    assert sent.id not in everything(stranger)
    assert broken(sent.sender, sent.carrier, stranger) == []


def test_caller_without_membership_or_scope_is_refused_first(sent, stranger):
    intruder = stranger.client()
    intruder.headers |= {"X-Tenant-Id": str(sent.carrier.id)}
    refused(intruder.post(f"{sent.copy}/accept"), 403, "tenant_forbidden")
    reader = factories.as_member(sent.carrier.tenant, ["auditor"])
    refused(reader.post(f"{sent.copy}/accept"), 403, "insufficient_scope")
    assert own_row(sent).version == 2


def test_own_address_of_the_other_party_is_unknown(sent):
    assert sent.carrier.api.get(sent.own).status_code == 404
    assert sent.sender.api.get(sent.copy).status_code == 404


def test_suspended_party_is_refused_and_the_other_goes_on(sent):
    with tenant_context(sent.carrier.id):
        tenant = locked_tenant(str(sent.carrier.id))
        suspend_tenant(actor=system_actor(tenant.id), tenant=tenant, reason="late", at=clock.now())
    refused(sent.carrier.api.post(f"{sent.copy}/accept"), 403, "tenant_suspended")
    assert data(sent.sender.api.post(f"{sent.own}/weigh"))["weighed"] == 1
    assert copy_row(sent).weighed == 1
    assert broken(sent.sender, sent.carrier) == []
    with tenant_context(sent.carrier.id):
        tenant = locked_tenant(str(sent.carrier.id))
        resume_tenant(actor=system_actor(tenant.id), tenant=tenant, at=clock.now())
    assert data(sent.carrier.api.post(f"{sent.copy}/accept"))["weighed"] == 1


def close(side):
    arguments = {"tenant": str(side.id), "confirm": side.tenant.slug, "retention_days": 0}
    call_command("close_tenant", **arguments, stdout=io.StringIO())


def test_closed_owner_leaves_the_copy_which_nobody_changes(sent):
    before = sent.seen_by_carrier()
    close(sent.sender)
    refused(sent.carrier.api.post(f"{sent.copy}/accept"), 409, "party_closed")
    assert sent.seen_by_carrier() == before
    assert broken(sent.carrier) == []
    call_command("rebuild_received", tenant=str(sent.carrier.id), stdout=io.StringIO())
    assert sent.seen_by_carrier() == before


def test_closed_reader_leaves_the_document_which_nobody_shares(sent):
    close(sent.carrier)
    refused(sent.sender.api.post(f"{sent.own}/weigh"), 409, "party_closed")
    assert own_row(sent).weighed == 0
    assert data(sent.sender.api.post(f"{sent.own}/note", json={"text": "gone"}))["internal_note"] == "gone"
    another = draft(sent.sender, sent.carrier)
    refused(another.sender.api.post(f"{another.own}/send"), 409, "party_closed")
    assert another.seen_by_sender()["status"] == "draft"
    assert broken(sent.sender) == []


def test_one_tenant_may_be_both_parties(sender):
    world = draft(sender, sender)
    data(sender.api.post(f"{world.own}/send"))
    data(sender.api.post(f"{world.own}/note", json={"text": "x"}))
    assert data(sender.api.post(f"{world.copy}/accept"))["status"] == "accepted"
    assert "internal_note" not in world.seen_by_carrier()
    assert [one.type.partition(".")[2] for one in told(sender, world.id)] == ["sent", "noted", "accepted"]
    assert broken(sender) == []


# -- what each is told -------------------------------------------------------------------------------------------------


def test_each_party_is_told_with_its_own_sequence_and_version(sent):
    data(sent.sender.api.post(f"{sent.own}/note", json={"text": "x"}))
    data(sent.carrier.api.post(f"{sent.copy}/accept"))
    mine, theirs = told(sent.sender, sent.id), told(sent.carrier, sent.id)
    assert [(one.type, one.version, one.sequence) for one in mine] == [
        ("test_parcel.sent", 2, 1), ("test_parcel.noted", 3, 2), ("test_parcel.accepted", 4, 3),
    ]  # fmt: skip
    assert [(one.type, one.version, one.sequence) for one in theirs] == [
        ("test_parcel.sent", 2, 1), ("test_parcel.accepted", 3, 2),
    ]  # fmt: skip
    assert [one.body["data"]["object"]["by"] for one in theirs] == ["sender", "carrier"]
    assert {one.body["tenant_id"] for one in theirs} == {str(sent.carrier.id)}


def test_nothing_of_one_party_reaches_the_other(sent):
    chosen = f"chosen-{factories.suffix()}"
    data(sent.carrier.api.post(f"{sent.copy}/accept", headers={"X-Request-Id": chosen}))
    mine, theirs = told(sent.sender, sent.id)[-1], told(sent.carrier, sent.id)[-1]
    assert (mine.subject, mine.credential, mine.membership_id) == (SYSTEM.id, "system", None)
    assert mine.request_id not in ("", chosen)
    assert theirs.request_id == theirs.body["request_id"] == chosen
    assert theirs.membership_id is not None
    other = everything(sent.sender)
    for secret in (chosen, str(theirs.subject), theirs.credential, str(theirs.membership_id)):
        assert secret not in other
    sender_sent = told(sent.sender, sent.id)[0]
    assert str(sender_sent.subject) not in everything(sent.carrier)


def test_figures_stand_in_the_ledger_only(sent):
    for side in (sent.sender, sent.carrier):
        (fact,) = told(side, sent.id)
        assert fact.figures == {"price": "12.50"}
        assert "price" not in fact.body["data"]["object"]
    assert told(sent.sender, sent.id)[0].body["data"]["object"]["number"]


def test_reaction_comes_behind_its_fact_in_both_sequences(sent):
    data(sent.carrier.api.post(f"{sent.copy}/accept"))
    answer = data(sent.carrier.api.post(f"{sent.copy}/deliver"))
    assert answer["status"] == "filed" == sent.seen_by_sender()["status"]
    for side in (sent.sender, sent.carrier):
        assert [one.type for one in told(side, sent.id)][-2:] == ["test_parcel.delivered", "test_parcel.filed"]
    assert broken(sent.sender, sent.carrier) == []


# -- what it costs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "k"}], ids=["without key", "with key"])
def test_write_of_either_party_takes_at_most_six_trips(sent, key):
    with recording() as record:
        data(sent.carrier.api.post(f"{sent.copy}/accept", headers=key))
    assert len(record) <= 6, record.texts()
    assert len(record) == 5, record.texts()
    with recording() as record:
        data(sent.sender.api.post(f"{sent.own}/weigh", headers=key))
    assert len(record) == 5, record.texts()
    with recording() as record:
        other = dict.fromkeys(key, "another")
        noted = data(sent.sender.api.post(f"{sent.own}/note", headers=other, json={"text": "x"}))
    assert len(record) == 4, record.texts()  # nothing is read between its steps
    assert noted == sent.seen_by_sender()
    assert told(sent.sender, sent.id)[-1].type == "test_parcel.noted"
    assert broken(sent.sender, sent.carrier) == []


@pytest.mark.parametrize("of", ["one", "list"])
def test_read_of_the_other_party_costs_what_an_own_read_costs(sent, of):
    for side, path in ((sent.sender, sent.own), (sent.carrier, sent.copy)):
        side.api.get(path)
        with recording() as record:
            data(side.api.get(path if of == "one" else path.rpartition("/")[0]))
        assert (len(record), record.statements) == (1, 2), record.texts()


# -- proof and rebuilding ----------------------------------------------------------------------------------------------


def plant(world, sql):
    with tenant_context(world.carrier.id), connection.cursor() as cursor:
        cursor.execute(sql, [world.carrier.id, world.id])


WHERE = f'"{ReceivedParcel._meta.db_table}" SET {{}} WHERE tenant_id = %s AND id = %s'
FAULTS = {
    "differs in version": "UPDATE " + WHERE.format("version = version - 1"),
    "differs in status, representation": "UPDATE "
    + WHERE.format("status = 'lost', representation = representation || '{\"status\": \"lost\"}'"),
    "differs in lines": "UPDATE " + WHERE.format("lines = '[]'"),
    "differs in the index of lines": f"UPDATE \"{ReceivedParcelLine._meta.db_table}\" SET sku = 'lost'"
    " WHERE tenant_id = %s AND document_id = %s",
    "differs in weighed": "UPDATE " + WHERE.format("weighed = 7"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_planted_fault_is_named_and_rebuilt(sent, what):
    plant(sent, FAULTS[what])
    assert [one.what for one in broken(sent.sender, sent.carrier)] == [what]
    with pytest.raises(CommandError, match="1 breaches"):
        call_command("prove_invariants", tenant=str(sent.sender.id), stdout=io.StringIO())
    out = io.StringIO()
    call_command("rebuild_received", tenant=str(sent.carrier.id), stdout=out)
    assert f"'read': 1, 'rewritten': {int('index' not in what)}" in out.getvalue()
    assert broken(sent.sender, sent.carrier) == []
    out = io.StringIO()
    call_command("rebuild_received", tenant=str(sent.carrier.id), stdout=out)
    assert "'read': 1, 'rewritten': 0" in out.getvalue()


def test_missing_copy_is_named(sent):
    plant(sent, f'DELETE FROM "{ReceivedParcel._meta.db_table}" WHERE tenant_id = %s AND id = %s')
    assert [one.what for one in broken(sent.sender, sent.carrier)] == ["the copy is missing"]


def test_copy_without_a_document_is_named(sent):
    with tenant_context(sent.sender.id):
        Parcel.objects.filter(tenant_id=sent.sender.id, pk=sent.id).update(
            carrier_tenant_id=sent.sender.id, version=9, updated_at=clock.now()
        )
    found = {(one.tenant_id, one.what) for one in broken(sent.sender, sent.carrier)}
    assert found == {
        (sent.sender.id, "the copy is missing"),
        (sent.carrier.id, "no document of the owner stands behind it"),
    }
    refused(sent.carrier.api.post(f"{sent.copy}/accept"), 404, "not_found")


def test_proof_without_faults_says_what_was_proved(sent):
    out = io.StringIO()
    call_command("prove_invariants", tenant=str(sent.carrier.id), stdout=out)
    assert out.getvalue().strip() == f"{len(checks())} rules proved in 1 tenants"


def test_rebuilding_goes_on_after_an_id(sent):
    plant(sent, FAULTS["differs in version"])
    out = io.StringIO()
    call_command("rebuild_received", tenant=str(sent.carrier.id), after=sent.id, stdout=out)
    assert "'read': 0, 'rewritten': 0" in out.getvalue()
    assert len(broken(sent.carrier, sent.sender)) == 1


def test_nobody_edits_a_copy(sent):
    row = copy_row(sent)
    row.status = "lost"
    with pytest.raises(TypeError), tenant_context(sent.carrier.id):
        row.save()
    with pytest.raises(TypeError), tenant_context(sent.carrier.id):
        row.delete()
    assert copy_row(sent).status == "sent"
