"""The admin's pages of webhooks: what they say, what they keep back, what their buttons do, and how much they ask."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from ledger.models import Event as Fact
from organizations.staff.roles import Permission, does
from tests.admin.people import REASON, act_in, signed_in, staff
from tests.webhooks.history import past
from tests.webhooks.scenes import ANSWER, URL, scene
from webhooks.admin import charts, events, replays, timelines, wording
from webhooks.models import Attempt, Delivery, DueDelivery, Endpoint, EndpointHealth, Event, Replay

PREFIX = "/admin/webhooks"


@pytest.fixture(scope="module")
def shown():
    return scene()


@pytest.fixture(scope="module")
def browser(shown):
    chosen = signed_in()
    act_in(chosen, shown.tenant)
    return chosen


def page(browser, path):
    answer = browser.get(f"{PREFIX}/{path}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_delivery_tells_its_story(browser, shown):
    text = page(browser, f"delivery/{shown.delivered.pk}/change/")

    order = [
        "Event happened",
        "Attempt 1: Answered 503",
        "first try, 5 s after the step before",
        "Attempt 2: No answer: no connection within 5 s",
        "retry by the schedule, 15 s after the step before",
        "Attempt 3: Accepted with 200",
        "sent again on purpose",
        "the receiver has it",
    ]
    places = [text.find(part) for part in order]
    assert -1 not in places
    assert places == sorted(places)
    for part in ("look-up</span> 4", "connect</span> 21", "TLS</span> 40", "first byte</span> 96", "203.0.113.9"):
        assert part.replace("</span>", "") in text.replace("</span>", "")
    assert "The receiver accepted it after 3 attempts." in text
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text


def test_delivery_on_its_way_says_when_the_next_try_is(browser, shown):
    text = page(browser, f"delivery/{shown.retrying.pk}/change/")

    assert "Not accepted so far, after 2 attempts. The next one in 6 min" in text
    assert "Next attempt" in text


def test_event_shows_its_body_and_where_it_went(browser, shown):
    past.body(shown.event)

    text = page(browser, f"event/{shown.event.pk}/change/")

    assert f"evt_{shown.event.id.hex}" in text
    assert "Jane Doe" in text
    assert "Jane Doe in full" not in text
    assert "full, version 2026-01-01: 73 bytes" in text
    assert URL in text
    assert "https://quiet.example.org/" in text


def test_event_and_deliveries_are_found_by_the_id_receivers_know(browser, shown):
    name = f"evt_{shown.event.id.hex}"

    assert str(shown.event.pk) in page(browser, f"event/?q={name}")
    found = page(browser, f"delivery/?q={name}")
    assert str(shown.delivered.pk) in found
    assert str(shown.failed.pk) not in found


def test_endpoint_shows_health_charts_and_keys_but_no_secret(browser, shown):
    text = page(browser, f"endpoint/{shown.endpoint['id']}/change/")

    assert "3 failures in a row since" in text
    assert text.count('-chart">') == 2
    assert "hmac" in text
    key = shown.endpoint["secret"].removeprefix("whsec_")
    assert key not in text
    assert "whsec_" not in text
    assert "sealed" not in text


def test_replay_shows_its_progress(browser, shown):
    text = page(browser, f"replay/{shown.replay.pk}/change/")

    assert "25 %" in text
    assert "running" in text


@pytest.mark.parametrize(
    ("path", "there", "away"),
    [
        ("delivery/?state=failed", "failed", "delivered"),
        ("delivery/?kind=product.created", "failed", ""),
        ("delivery/?state=nonsense", "", "failed"),
        ("delivery/?kind=order.placed", "", "failed"),
    ],
)
def test_filter_keeps_what_was_asked_for(browser, shown, path, there, away):
    text = page(browser, path)

    rows = {name: str(getattr(shown, name).pk) for name in ("failed", "delivered")}
    assert not there or rows[there] in text
    assert not away or rows[away] not in text


def press(person, shown, path, **more):
    chosen = signed_in(person=person)
    act_in(chosen, shown.tenant)
    return chosen.post(f"{PREFIX}/{path}", {"reason": REASON, **more})


def facts(person):
    rows = Fact.objects.using("platform").filter(subject_id=person.pk).exclude(type__startswith="staff_access")
    return [(row.type, row.data.get("reason", "")) for row in rows.order_by("occurred_at", "id")]


def test_endpoint_is_switched_off_and_on_with_a_reason():
    shown, person = scene(), staff("security")
    key = shown.endpoint["id"]

    assert press(person, shown, f"endpoint/{key}/do/disable/").status_code == 302
    (row,) = shown.world.rows(Endpoint, id=key)
    assert (row.active, row.disabled_reason) == (False, "by_user")
    assert press(person, shown, f"endpoint/{key}/do/enable/").status_code == 302

    assert shown.world.rows(Endpoint, id=key)[0].active
    assert facts(person) == [("webhook_endpoint.updated", ""), ("staff_action.performed", REASON)] * 2


@pytest.mark.parametrize("role", ["support", "supply", "security"])
def test_switching_and_expunging_need_their_deeds(role):
    shown, person = scene(), staff(role)

    off = press(person, shown, f"endpoint/{shown.endpoint['id']}/do/disable/").status_code
    name = str(shown.event)
    gone = press(person, shown, f"event/{shown.event.pk}/do/expunge/", confirmation=name).status_code

    assert off == (302 if does(person, Permission.SWITCH_WEBHOOKS) else 403)
    assert gone == (302 if does(person, Permission.EXPUNGE_WEBHOOKS) else 403)
    kept = json.loads(bytes(shown.world.rows(Event, id=shown.event.pk)[0].body))
    assert ("expunged" in kept["data"]["object"]) is does(person, Permission.EXPUNGE_WEBHOOKS)


def test_body_is_expunged_with_the_name_typed_and_told():
    shown, person = scene(), staff()
    path = f"event/{shown.event.pk}/do/expunge/"

    assert press(person, shown, path, confirmation="something else").status_code == 200
    assert facts(person) == []
    assert press(person, shown, path, confirmation=str(shown.event)).status_code == 302

    assert b"Jane Doe" not in bytes(shown.world.rows(Event, id=shown.event.pk)[0].body)
    assert facts(person) == [("webhook_event.expunged", ""), ("staff_action.performed", REASON)]
    assert {row.response_excerpt for row in shown.world.rows(Attempt, delivery_id=shown.delivered.pk)} == {""}
    assert {row.response_excerpt for row in shown.world.rows(Attempt, delivery_id=shown.failed.pk)} == {ANSWER}


def test_foreign_rows_are_not_there(browser, shown):
    other = scene()

    for path in (
        f"endpoint/{other.endpoint['id']}/change/",
        f"delivery/{other.delivered.pk}/change/",
        f"event/{other.event.pk}/change/",
        f"replay/{other.replay.pk}/change/",
    ):
        answer = browser.get(f"{PREFIX}/{path}")
        assert answer.status_code == 302
    assert browser.post(f"{PREFIX}/event/{other.event.pk}/do/expunge/", {"reason": REASON}).status_code == 404
    for name in ("endpoint", "delivery", "event", "replay"):
        assert str(other.tenant.pk) not in page(browser, f"{name}/")


def questions(browser, path):
    with CaptureQueriesContext(connection) as asked:
        page(browser, path)
    return len(asked)


@pytest.mark.parametrize("name", ["endpoint", "delivery", "event", "replay"])
def test_list_asks_as_much_for_one_row_as_for_many(name):
    shown = scene()
    chosen = signed_in()
    act_in(chosen, shown.tenant)
    questions(chosen, f"{name}/")
    before = questions(chosen, f"{name}/")
    for number in range(3):
        made = past.event(shown.world, now() - timedelta(minutes=number))
        endpoint = shown.world.endpoint(f"https://more.example.org/{number}")
        past.delivery(made, endpoint["id"])
        with tenant_context(shown.tenant.id):
            Replay.objects.create(
                tenant_id=shown.tenant.id, endpoint_id=endpoint["id"], since=now() - timedelta(hours=1), until=now(),
                only="all", requested_by="test",
            )  # fmt: skip

    assert questions(chosen, f"{name}/") == before


def test_timeline_of_many_attempts_asks_no_more(browser, shown):
    questions(browser, f"delivery/{shown.failed.pk}/change/")
    before = questions(browser, f"delivery/{shown.failed.pk}/change/")
    for number in range(2, 12):
        Attempt.objects.using("owner").create(
            created_at=shown.failed.created_at, tenant_id=shown.tenant.id, delivery_id=shown.failed.pk, number=number,
            endpoint_id=shown.failed.endpoint_id, status=500, duration_ms=1, lease=uuid7(),
        )  # fmt: skip

    assert questions(browser, f"delivery/{shown.failed.pk}/change/") == before


def test_attempts_are_looked_for_only_where_they_can_lie(shown):
    with tenant_context(shown.tenant.id), CaptureQueriesContext(connection) as asked:
        found = timelines.read_attempts(shown.delivered)

    assert [one.number for one in found] == [1, 2, 3]
    assert asked[0]["sql"].count('"created_at" ') >= 2


def test_event_is_looked_for_where_its_id_says():
    old, other = uuid7(), "0199f2c0-5b1e-4c3a-9d44-0a6c2f1e8b90"

    assert "created_at" in str(events.near(Event.objects.all(), str(old)).query.where)
    assert "created_at" not in str(events.near(Event.objects.all(), other).query.where)
    assert "created_at" not in str(events.near(Event.objects.all(), "no id").query.where)


def test_figures_of_no_hour_at_all_are_empty():
    found = charts.figures({}, at=now())

    assert found["is_empty"]
    assert found["day"]["percent"] is None
    assert len(found["bars"]) == charts.HOURS


def test_chart_counts_what_the_hours_say(shown):
    with tenant_context(shown.tenant.id):
        rows = charts.read_hours(shown.tenant.id, shown.endpoint["id"], at=now())
    found = charts.figures(rows, at=now())

    assert found["most"] == max(row.attempts for row in rows.values())
    assert found["day"]["attempts"] == sum(bar.good + bar.bad for bar in found["bars"][-24:])
    assert all(bar.bad_y >= 0 and bar.good_y + bar.good_height <= charts.HEIGHT + 0.2 for bar in found["bars"])


@pytest.mark.parametrize(
    ("endpoint", "health", "state", "says"),
    [
        ({}, None, "active", "Works."),
        ({"active": False, "disabled_reason": "gone", "disabled_by": "platform"}, None, "disabled", "410 Gone"),
        ({"active": False, "disabled_reason": "failing"}, None, "disabled", "72 hours"),
        ({"deleted_at": now()}, None, "deleted", "history stays"),
        ({}, {"consecutive_failures": 2}, "failing", "2 failures in a row"),
        ({}, {"circuit_state": "open", "circuit_until": 90}, "resting", "a trial goes out in 1 min 30 s"),
        ({}, {"circuit_state": "half_open"}, "resting", "a trial is under way"),
        ({}, {"paused_until": 7200}, "held back", "in 2 h"),
        ({}, {"paused_until": -5}, "active", "Works."),
    ],
)
def test_endpoint_state_is_told_in_words(endpoint, health, state, says):
    at = now()
    moments = {
        name: at + timedelta(seconds=value) if name.endswith("until") else value
        for name, value in (health or {}).items()
    }
    row = EndpointHealth(**{"consecutive_failures": 0, "circuit_state": "closed", **moments}) if health else None

    found, words = wording.endpoint_state(Endpoint(**endpoint), row, at)

    assert found == state
    assert says in words


@pytest.mark.parametrize(
    ("delivery", "active", "queued", "says"),
    [
        ({"state": "pending"}, True, True, "first attempt"),
        ({"state": "pending"}, False, False, "Frozen"),
        ({"state": "retrying", "attempts": 2}, True, False, "Not queued"),
        ({"state": "retrying", "attempts": 2}, True, True, "after 2 attempts"),
        ({"state": "failed", "attempts": 13, "last_status": 500}, True, False, "the last answer was 500"),
        ({"state": "failed", "attempts": 1, "last_error": "blocked_destination"}, True, False, "does not connect"),
        ({"state": "delivered", "attempts": 1}, True, False, "after 1 attempt."),
    ],
)
def test_delivery_state_is_told_in_words(delivery, active, queued, says):
    row = Delivery(**{"attempts": 0, "last_error": "", **delivery})

    assert says in wording.delivery_words(row, Endpoint(active=active), is_queued=queued, at=now())


def test_replay_without_a_cursor_has_not_begun():
    at = now()
    row = Replay(since=at - timedelta(hours=2), until=at, state="queued")

    assert replays.percent(row) == 0
    row.cursor_at = at
    assert replays.percent(row) == 99
    row.state = "completed"
    assert replays.percent(row) == 100


def test_delivery_is_sent_again_by_the_interfaces_action():
    shown, person = scene(), staff("support")
    path = f"delivery/{shown.failed.pk}/do/redeliver/"

    assert press(person, shown, path).status_code == 302

    (row,) = shown.world.rows(Delivery, id=shown.failed.pk)
    assert (row.state, row.attempts, row.attempts_before) == ("retrying", 1, 1)
    assert [due.delivery_id for due in shown.world.rows(DueDelivery, delivery_id=shown.failed.pk)] == [shown.failed.pk]
    told = facts(person)
    assert told[-1] == ("staff_action.performed", REASON)
    assert len(told) == 2
    refused = press(person, shown, path)
    assert "on its way this moment" in refused.content.decode()
    assert facts(person) == told


def test_replay_is_asked_for_and_stopped():
    shown, person = scene(), staff("supply")
    press(person, shown, f"replay/{shown.replay.pk}/do/cancel/")
    assert shown.world.rows(Replay, id=shown.replay.pk)[0].state == "cancelled"
    path = f"endpoint/{shown.endpoint['id']}/do/replay/"
    wanted = {
        "since": f"{now() - timedelta(days=3):%Y-%m-%dT%H:%M}",
        "until": "",
        "only": "failed",
        "types": "product.*",
    }

    assert press(person, shown, path, **wanted).status_code == 302

    (made,) = [row for row in shown.world.rows(Replay) if row.state == "queued"]
    assert (made.only, made.types) == ("failed", ["product.*"])
    assert timedelta(days=2, hours=23) < made.until - made.since < timedelta(days=3, minutes=2)
    again = press(person, shown, path, **wanted)
    assert "has an open replay" in again.content.decode()


def test_replay_form_names_the_field_that_is_wrong():
    shown, person = scene(), staff("support")
    press(person, shown, f"replay/{shown.replay.pk}/do/cancel/")
    path = f"endpoint/{shown.endpoint['id']}/do/replay/"

    early = press(person, shown, path, since="1999-01-01T00:00", only="failed").content.decode()
    kind = press(
        person, shown, path, since=f"{now():%Y-%m-%d}T00:00", only="failed", types="nothing.at_all"
    ).content.decode()

    assert "Events are kept for 365 days." in early
    assert "No event matches" in kind
    assert [row.state for row in shown.world.rows(Replay)] == ["cancelled"]
