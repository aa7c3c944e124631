"""What members do with notifications: read, acknowledge and archive them, and find them in the lists."""

from datetime import timedelta

import pytest

from core.db import tenant_context
from organizations.models import Tenant
from suppliers.notifications.models import Notification, OpenAlert
from suppliers.notifications.states import Severity
from tests import factories
from tests.races import race
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.inventory.test_expiring import NOON
from tests.suppliers.notifications.inbox import (
    ALERTS,
    PATH,
    PREFERENCES,
    counted,
    data,
    facts,
    gone,
    raised,
    rows,
    state,
)
from webhooks.models import Event, NewEvent


def test_acknowledging_again_changes_and_records_nothing(shelf):
    row = raised(shelf)
    path = f"{PATH}/{row.id}"
    first = data(shelf.api.patch(path, json={"acknowledged": True}))
    assert first["acknowledged_by"]
    assert first["version"] == 2
    after = state(shelf)
    again = factories.as_member(shelf.tenant, ["supplier_admin"])
    second = data(again.patch(path, json={"acknowledged": True}))
    assert {**second, "read_at": None} == {**first, "read_at": None}
    assert state(shelf) == after
    assert [kind for kind, _, _ in facts(shelf)] == ["alert.raised", "alert.acknowledged"]
    assert len(data(shelf.api.get(ALERTS))["items"]) == 1


def test_members_who_acknowledge_at_once_record_one_fact(shelf):
    row = raised(shelf)
    clients = [factories.as_member(shelf.tenant, ["supplier_admin"]) for _ in range(4)]
    answers = race(*[lambda api=api: api.patch(f"{PATH}/{row.id}", json={"acknowledged": True}) for api in clients])
    assert [one.status_code for one in answers] == [200] * 4
    assert len(facts(shelf, "alert.acknowledged")) == 1


def test_each_reader_has_an_own_mark(shelf):
    row = raised(shelf)
    mine, colleague = shelf.api, factories.as_member(shelf.tenant, ["supplier_admin"])
    first = data(mine.patch(f"{PATH}/{row.id}", json={"read": True}))
    assert first["read_at"] is not None
    assert first["version"] == 1
    assert data(mine.patch(f"{PATH}/{row.id}", json={"read": True}))["read_at"] == first["read_at"]
    assert data(colleague.get(f"{PATH}/{row.id}"))["read_at"] is None
    totals = [
        data(api.get(f"{PATH}?unread={given}"))["total"] for api in (mine, colleague) for given in ("true", "false")
    ]
    assert totals == [0, 1, 1, 0]
    assert data(mine.patch(f"{PATH}/{row.id}", json={"read": False}))["read_at"] is None
    assert data(mine.get(f"{PATH}?unread=true"))["total"] == 1


def test_mark_changes_the_tag_and_not_the_version(shelf):
    row = raised(shelf)
    path = f"{PATH}/{row.id}"
    before = shelf.api.get(path)
    changed = shelf.api.patch(path, json={"read": True}, headers={"If-Match": before["ETag"]})
    assert changed["ETag"] != before["ETag"]
    assert changed["ETag"].split(";")[0].rstrip('"') == before["ETag"].split(";")[0].rstrip('"')
    assert shelf.api.get(path, headers={"If-None-Match": before["ETag"]}).status_code == 200
    assert shelf.api.get(path, headers={"If-None-Match": changed["ETag"]}).status_code == 304


def test_open_alert_is_archived_once_it_was_acknowledged(shelf):
    row = raised(shelf)
    path, before = f"{PATH}/{row.id}", state(shelf)
    refused(shelf.api.patch(path, json={"archived": True, "read": True}), 409, "alert_not_acknowledged")
    assert state(shelf) == before
    seen = data(shelf.api.patch(path, json={"archived": True, "acknowledged": True}))
    assert seen["archived_at"] is not None
    assert seen["closed_at"] is not None
    assert counted(shelf) == {"current": 0, "archived": 1}
    assert data(shelf.api.get(PATH))["total"] == 0
    assert data(shelf.api.get(ALERTS))["total"] == 0
    assert data(shelf.api.get(f"{PATH}?archived=true"))["total"] == 1
    data(shelf.api.patch(path, json={"archived": False}))
    assert counted(shelf) == {"current": 1, "archived": 0}
    assert data(shelf.api.get(PATH))["total"] == 1
    assert data(shelf.api.get(ALERTS))["total"] == 0
    assert raised(shelf).id != row.id  # the next cause opens another one


def test_archiving_against_a_cause_that_goes_ends_in_one_state(shelf):
    for number in range(4):
        row = raised(shelf, subject=f"s{number}")
        api = shelves.Buyer(shelf.tenant, shelf.api).client()
        body = {"acknowledged": True, "archived": True}
        answer, _ = race(lambda: api.patch(f"{PATH}/{row.id}", json=body), lambda: gone(shelf, subject=f"s{number}"))
        assert answer.status_code == 200, answer.content
    assert rows(shelf, OpenAlert) == []
    assert counted(shelf) == {"current": 0, "archived": 4}


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"acknowledged": False}, "acknowledged", "invalid"),
        ({"read": "perhaps"}, "read", "invalid"),
        ({"recall_response": {"quantity_found": 1}}, "recall_response", "not_a_recall"),
        ({"severity": "info"}, "severity", "unknown_field"),
    ],
)
def test_malformed_change_changes_nothing(shelf, body, field, code):
    row = raised(shelf)
    before = state(shelf)
    answer = shelf.api.patch(f"{PATH}/{row.id}", json=body)
    assert answer.status_code == 400
    assert (field, code) in [(one["field"], one["code"]) for one in answer.json()["errors"]]
    assert state(shelf) == before


def test_version_that_was_passed_is_refused(shelf):
    row = raised(shelf)
    path = f"{PATH}/{row.id}"
    data(shelf.api.patch(path, json={"acknowledged": True}))
    before = state(shelf)
    refused(shelf.api.patch(path, json={"archived": True}, headers={"If-Match": '"1"'}), 409, "version_conflict")
    assert state(shelf) == before


def test_foreign_ids_and_limited_members_find_nothing(shelf, buyer):
    place, elsewhere = shelf.place("Hall 1"), shelf.place("Hall 2")
    row = raised(shelf, location_id=place)
    person, _ = factories.member(shelf.tenant, ["supplier_warehouse"], location_ids=[elsewhere])
    limited = factories.Api(token=factories.bearer(person), tenant=shelf.tenant)
    before = state(shelf)
    for api in (buyer.api, limited):
        refused(api.get(f"{PATH}/{row.id}"), 404, "not_found")
        refused(api.patch(f"{PATH}/{row.id}", json={"acknowledged": True}), 404, "not_found")
        assert data(api.get(PATH))["total"] == data(api.get(ALERTS))["total"] == 0
    assert state(shelf) == before
    near, _ = factories.member(shelf.tenant, ["supplier_warehouse"], location_ids=[place])
    assert data(factories.Api(token=factories.bearer(near), tenant=shelf.tenant).get(PATH))["total"] == 1


def test_reader_may_not_write(shelf):
    row = raised(shelf)
    reader = factories.as_member(shelf.tenant, ["supplier_read_only"])
    before = state(shelf)
    refused(reader.patch(f"{PATH}/{row.id}", json={"read": True}), 403, "insufficient_scope")
    refused(reader.put(PREFERENCES, json={}), 403, "insufficient_scope")
    assert state(shelf) == before


def test_hidden_type_is_kept_out_of_lists_and_webhooks(shelf):
    admin = factories.as_member(shelf.tenant, ["supplier_admin"])
    data(admin.put(PREFERENCES, json={"types": {"low_stock": {"in_app": False, "webhook": False}}}))
    row = raised(shelf)
    assert data(shelf.api.get(PATH))["total"] == data(shelf.api.get(ALERTS))["total"] == 0
    assert counted(shelf) == {}
    assert data(shelf.api.get(f"{PATH}/{row.id}"))["type"] == "low_stock"
    raised(shelf, "recall", "s2")
    with tenant_context(shelf.id):
        told = Event.objects.filter(tenant_id=shelf.id, type="alert.raised").order_by("created_at")
        fanned = [NewEvent.objects.filter(tenant_id=shelf.id, id=one.id).exists() for one in told]
    assert fanned == [False, True]


def test_lists_are_narrowed_by_every_filter(shelf):
    for number, (kind, severity) in enumerate(
        [("low_stock", "warning"), ("license_expiring", "info"), ("recall", "critical")]
    ):
        raised(shelf, kind, f"s{number}", severity=Severity(severity), at=NOON + timedelta(days=number))

    def ids(query, path=PATH):
        return [one["type"] for one in data(shelf.api.get(f"{path}?{query}"))["items"]]

    assert ids("") == ["recall", "license_expiring", "low_stock"]
    assert ids("sort=created_at&limit=1&page=2") == ["license_expiring"]
    assert ids("type=recall,low_stock", ALERTS) == ["recall", "low_stock"]
    assert ids("severity=info") == ["license_expiring"]
    assert ids("kind=message") == []
    assert len(ids("kind=alert")) == 3
    assert ids("from=2030-06-02T00:00:00Z&to=2030-06-03T00:00:00Z") == ["license_expiring"]
    assert ids("to=2030-06-02", ALERTS) == ["low_stock"]
    with tenant_context(shelf.id):
        Tenant.objects.filter(id=shelf.id).update(time_zone="Pacific/Kiritimati")
    assert ids("from=2030-06-03") == ["recall", "license_expiring"]  # where it began at ten in the morning before
    assert ids("updated_since=2030-06-03T00:00:00Z") == []  # a feed ends at the instant of the asking
    with tenant_context(shelf.id):
        mine = Notification.objects.filter(tenant_id=shelf.id)
        mine.update(updated_at=NOON - timedelta(days=3650))
        mine.filter(type="recall").update(updated_at=NOON - timedelta(days=3640))
    assert ids(f"updated_since={(NOON - timedelta(days=3645)):%Y-%m-%dT%H:%M:%SZ}") == ["recall"]
    assert ids("acknowledged=true", ALERTS) == []
    assert len(ids("acknowledged=false")) == 3
    for wrong in (
        "type=nothing",
        "type=proof_failed",
        "severity=grave",
        "kind=letter",
        "from=yesterday",
        "from=2030-06-02T00:00:00",
        "from=2030-06-02&to=2030-06-01",
        "unread=maybe",
    ):
        assert shelf.api.get(f"{PATH}?{wrong}").status_code == 400, wrong
    refused(shelf.api.get(f"{PATH}?unred=true"), 400, "unknown_parameter")
    refused(shelf.api.get(f"{ALERTS}?archived=true"), 400, "unknown_parameter")
