"""Preferences: defaults, what is replaced, and what cannot be switched off."""

import pytest

from suppliers.notifications.models import NotificationPreference
from suppliers.notifications.states import TOLD
from tests import factories
from tests.races import race
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.notifications.inbox import PREFERENCES, data, rows, sound, state

WHOLE = {
    "types": {"low_stock": {"email": False, "threshold": 20}},
    "expiry_days": [14, 60, 14],
    "low_stock_default": 5,
    "digest": "daily",
    "quiet_hours": {"from": "20:00", "to": "07:00", "timezone": "Europe/Berlin"},
}


def test_defaults_are_read_as_long_as_nothing_is_stored(buyer):
    found = data(buyer.api.get(PREFERENCES))
    assert [*found["types"]] == [*TOLD]
    assert {tuple(one.values()) for one in found["types"].values()} == {(True, True, True, None)}
    assert (found["expiry_days"], found["low_stock_default"], found["digest"]) == ([90, 30, 7], None, "immediate")
    assert (found["quiet_hours"], found["version"]) == (None, 1)
    assert rows(buyer, NotificationPreference) == []


def test_preferences_are_replaced_as_a_whole(buyer):
    answer = buyer.api.put(PREFERENCES, json=WHOLE)
    found = data(answer)
    assert found["types"]["low_stock"] == {"in_app": True, "email": False, "webhook": True, "threshold": 20}
    assert (found["expiry_days"], found["low_stock_default"], found["digest"]) == ([60, 14], 5, "daily")
    assert (found["quiet_hours"], found["version"]) == (WHOLE["quiet_hours"], 2)
    assert data(buyer.api.get(PREFERENCES)) == found
    assert buyer.api.get(PREFERENCES)["ETag"] == answer["ETag"]
    before = state(buyer)
    assert data(buyer.api.put(PREFERENCES, json=WHOLE))["version"] == 2
    assert state(buyer) == before
    cleared = data(buyer.api.put(PREFERENCES, json={}))
    assert (cleared["types"]["low_stock"]["email"], cleared["quiet_hours"], cleared["version"]) == (True, None, 3)
    sound(buyer)


@pytest.mark.parametrize("kind", ["recall", "temperature_excursion", "key_compromised"])
@pytest.mark.parametrize("channel", ["in_app", "email", "webhook"])
def test_safety_alerts_cannot_be_switched_off(buyer, kind, channel):
    data(buyer.api.put(PREFERENCES, json=WHOLE))
    before = state(buyer)
    refusal = refused(buyer.api.put(PREFERENCES, json={"types": {kind: {channel: False}}}), 400, "mandatory_alert")
    assert [one["field"] for one in refusal["errors"]] == [f"types.{kind}.{channel}"]
    assert state(buyer) == before


def test_messages_cannot_be_hidden(buyer):
    before = state(buyer)
    refused(buyer.api.put(PREFERENCES, json={"types": {"message": {"in_app": False}}}), 400, "mandatory_alert")
    assert state(buyer) == before
    data(buyer.api.put(PREFERENCES, json={"types": {"message": {"email": False}}}))


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"digest": "weekly"}, "digest", "invalid_choice"),
        ({"expiry_days": []}, "expiry_days", "min_length"),
        ({"expiry_days": [0]}, "expiry_days.0", "min_value"),
        ({"expiry_days": [366]}, "expiry_days.0", "max_value"),
        ({"low_stock_default": -1}, "low_stock_default", "min_value"),
        ({"types": {"proof_failed": {}}}, "types.proof_failed", "unknown_field"),
        ({"types": {"recall": {"threshold": 3}}}, "types.recall.threshold", "invalid"),
        ({"types": {"low_stock": {"sms": True}}}, "types.low_stock.sms", "unknown_field"),
        ({"quiet_hours": {"from": "20:00", "to": "20:00", "timezone": "UTC"}}, "quiet_hours.to", "invalid"),
        ({"quiet_hours": {"from": "25:00", "to": "20:00", "timezone": "UTC"}}, "quiet_hours.from", "invalid"),
        ({"quiet_hours": {"from": "2:5", "to": "20:00", "timezone": "UTC"}}, "quiet_hours.from", "invalid"),
        ({"quiet_hours": {"from": 20, "to": "20:00", "timezone": "UTC"}}, "quiet_hours.from", "invalid"),
        (
            {"quiet_hours": {"from": "19:00", "to": "20:00", "timezone": "Mars/Olympus"}},
            "quiet_hours.timezone",
            "invalid_choice",
        ),
        ({"quiet_hours": {"from": "19:00", "to": "20:00"}}, "quiet_hours.timezone", "required"),
    ],
)
def test_malformed_preferences_change_nothing(buyer, body, field, code):
    before = state(buyer)
    answer = buyer.api.put(PREFERENCES, json=body)
    assert answer.status_code == 400
    assert (field, code) in [(one["field"], one["code"]) for one in answer.json()["errors"]]
    assert state(buyer) == before


def test_version_that_was_passed_is_refused(buyer):
    data(buyer.api.put(PREFERENCES, json=WHOLE, headers={"If-Match": '"1"'}))
    before = state(buyer)
    refused(buyer.api.put(PREFERENCES, json={}, headers={"If-Match": '"1"'}), 409, "version_conflict")
    assert state(buyer) == before


def test_first_preferences_of_two_at_once_are_one_row(buyer):
    bodies = [{"low_stock_default": number} for number in range(1, 5)]
    answers = race(*[lambda body=body: buyer.client().put(PREFERENCES, json=body) for body in bodies])
    assert [one.status_code for one in answers] == [200] * 4
    (row,) = rows(buyer, NotificationPreference)
    assert row.version == 5


def test_preferences_belong_to_their_tenant(buyer, other):
    data(buyer.api.put(PREFERENCES, json=WHOLE))
    assert data(other.api.get(PREFERENCES))["digest"] == "immediate"
    key = factories.Api(key=factories.api_key(buyer.tenant, ["supplier_read_only"]), tenant=buyer.tenant)
    assert data(key.get(PREFERENCES))["digest"] == "daily"
