"""What is old enough is dropped as a whole, unless unfinished work holds it back; the settings must make sense."""

import json
import threading
from datetime import timedelta
from io import StringIO

import pytest
from celery import current_app
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connections

from config.schedule import SCHEDULE
from core.clock import now
from core.db import tenant_context
from core.history.partitions import ALIAS, ask, turn
from core.history.ranges import Step, next_start, start_of
from tests.webhooks.history.past import attempt, body, delivery, event, lies_in
from webhooks import states
from webhooks.history import retention, tasks
from webhooks.history.partitions import HISTORIES, TURN
from webhooks.history.upkeep import keep_history
from webhooks.models import Delivery, DueDelivery, EndpointHour, Replay

YEAR_OLD, QUARTER_OLD, MONTH_OLD = timedelta(days=420), timedelta(days=130), timedelta(days=31)


@pytest.fixture
def endpoint(world):
    return world.endpoint("https://example.org/hook")["id"]


@pytest.fixture
def ranges(flat):
    """The ranges in which the rows of these tests lie, as if the job had run at the time."""
    for history in HISTORIES:
        for age in (YEAR_OLD, QUARTER_OLD, MONTH_OLD):
            lower = start_of(now() - age, history.step)
            ask("SELECT hp_history_make(%s, %s, %s)", history.table, lower, next_start(lower, history.step))


@pytest.fixture
def old(ranges, world, endpoint):
    """One event of a year ago and one of a quarter ago, each with all that belongs to it."""
    found = {}
    for age in (YEAR_OLD, QUARTER_OLD):
        one = event(world, now() - age)
        sent = delivery(one, endpoint)
        found[age] = [
            ("webhooks_event", one.id),
            ("webhooks_event_body", body(one).id),
            ("webhooks_delivery", sent.id),
            ("webhooks_attempt", attempt(sent).id),
        ]
    return found


def left(rows):
    return [table for table, row_id in rows if lies_in(table, row_id)]


def test_bodies_leave_after_a_quarter_and_the_rest_after_a_year(old):
    kept = keep_history(at=now())

    assert left(old[YEAR_OLD]) == []
    assert left(old[QUARTER_OLD]) == ["webhooks_event", "webhooks_delivery", "webhooks_attempt"]
    assert kept.held == []
    assert any(name.startswith("webhooks_attempt_") for name in kept.dropped)
    assert keep_history(at=now()).dropped == []


def test_settings_say_how_long(old, settings):
    settings.WEBHOOKS_BODIES_DAYS = settings.WEBHOOKS_HISTORY_DAYS = 1000

    keep_history(at=now())

    assert len(left(old[YEAR_OLD])) == len(left(old[QUARTER_OLD])) == 4


def due(world, made):
    with tenant_context(world.tenant.id):
        return DueDelivery.objects.create(
            delivery_id=made.id,
            created_at=made.created_at,
            tenant_id=made.tenant_id,
            event_id=made.event_id,
            endpoint_id=made.endpoint_id,
        )


def test_delivery_under_way_holds_its_ranges_back(ranges, world, endpoint):
    one = event(world, now() - YEAR_OLD)
    sent = delivery(one, endpoint, states.RETRYING)
    waiting = due(world, sent)

    kept = keep_history(at=now())

    assert {held.reason for held in kept.held} == {"deliveries that are still under way"}
    assert lies_in("webhooks_event", one.id)
    assert lies_in("webhooks_delivery", sent.id)
    with tenant_context(world.tenant.id):
        waiting.delete()
        Delivery._base_manager.filter(id=sent.id).update(state=states.DELIVERED)
    keep_history(at=now())
    assert lies_in("webhooks_delivery", sent.id) == ""


@pytest.mark.usefixtures("each_number_of_lanes")
def test_frozen_delivery_ends_and_holds_nothing_back(ranges, world, endpoint):
    frozen = delivery(event(world, now() - QUARTER_OLD), endpoint, states.PENDING)
    young = delivery(event(world, now() - MONTH_OLD), endpoint, states.PENDING)

    kept = keep_history(at=now())

    assert kept.settled == 1
    assert kept.held == []
    found = {row.id: (row.state, row.last_error) for row in world.rows(Delivery)}
    assert found == {frozen.id: (states.FAILED, "expired"), young.id: (states.PENDING, "")}


def test_open_replay_holds_its_stretch_back(ranges, world, endpoint):
    one = event(world, now() - YEAR_OLD)
    with tenant_context(world.tenant.id):
        replay = Replay.objects.create(
            tenant_id=world.tenant.id,
            endpoint_id=endpoint,
            since=now() - YEAR_OLD - timedelta(hours=1),
            until=now(),
            only="all",
            requested_by="test",
        )

    kept = keep_history(at=now())

    assert "a replay that is under way" in {held.reason for held in kept.held}
    assert lies_in("webhooks_event", one.id)
    with tenant_context(world.tenant.id):
        Replay._base_manager.filter(id=replay.id).update(state="completed")
    keep_history(at=now())
    assert lies_in("webhooks_event", one.id) == ""


def test_database_itself_refuses_to_drop_what_is_young(ranges):
    young = start_of(now() - MONTH_OLD, Step.MONTH)
    for child, keep in (("webhooks_event_rest", "1 year"), (f"webhooks_event_{young:%Y%m%d}", "60 days")):
        with pytest.raises(DatabaseError, match="not old enough"), connections[ALIAS].cursor() as cursor:
            cursor.execute("SELECT hp_history_drop('webhooks_event', %s, %s)", [child, keep])
    with pytest.raises(DatabaseError, match="7 days at least"), connections[ALIAS].cursor() as cursor:
        cursor.execute("SELECT hp_history_drop('webhooks_event', 'webhooks_event_rest', '1 day')")


@pytest.mark.usefixtures("each_number_of_lanes")
def test_hours_older_than_the_history_are_forgotten(world, endpoint):
    def hour(at):
        return EndpointHour.objects.create(
            tenant_id=world.tenant.id, endpoint_id=endpoint, hour=at, attempts=1, duration_buckets=[1]
        )

    with tenant_context(world.tenant.id):
        hour(now() - timedelta(days=366))
        young = hour(now() - timedelta(days=364))

    assert keep_history(at=now()).hours == 1
    with tenant_context(world.tenant.id):
        assert list(EndpointHour.objects.filter(endpoint_id=endpoint).values_list("id", flat=True)) == [young.id]


@pytest.mark.parametrize(("bodies", "metadata"), [(6, 365), (90, 3651), (366, 365), (-1, -1)])
def test_settings_that_make_no_sense_are_refused_and_touch_nothing(bodies, metadata, settings, old):
    settings.WEBHOOKS_BODIES_DAYS, settings.WEBHOOKS_HISTORY_DAYS = bodies, metadata

    with pytest.raises(ImproperlyConfigured, match="WEBHOOKS_"):
        keep_history(at=now())
    assert [one.id for one in retention.check_settings()] == ["webhooks.E001"]
    with pytest.raises(CommandError, match="WEBHOOKS_"):
        call_command("webhooks_partitions")
    assert len(left(old[YEAR_OLD])) == 4


def test_command_says_what_was_done(old):
    out = StringIO()
    call_command("webhooks_partitions", "--json", stdout=out)
    kept = json.loads(out.getvalue())

    assert any(name.startswith("webhooks_event_body_") for name in kept["dropped"])
    out = StringIO()
    call_command("webhooks_partitions", stdout=out)
    assert "0 made, 0 dropped, 0 held back" in out.getvalue()


def test_second_run_at_the_same_time_leaves_it_alone(flat):
    with turn(TURN):
        made = []

        def other():
            try:
                keep_history(at=now())
            except Exception as error:
                made.append(str(error))

        runner = threading.Thread(target=other)
        runner.start()
        runner.join()
    assert made == ["another run is under way"]


def test_task_is_rung_hourly_beside_the_dispatchers_queue(old):
    assert SCHEDULE[tasks.KEEP]["schedule"] == 3600
    assert current_app.amqp.router.route({}, tasks.KEEP)["queue"].name == "bulk"

    tasks.keep()

    assert left(old[YEAR_OLD]) == []


def test_runtime_login_is_told_that_it_may_not(old, monkeypatch):
    monkeypatch.setattr("core.history.partitions.ALIAS", "default")

    with pytest.raises(CommandError, match="permission denied"):
        call_command("webhooks_partitions")
    assert len(left(old[YEAR_OLD])) == 4
