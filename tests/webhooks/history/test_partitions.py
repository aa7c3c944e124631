"""Partitions are made ahead, on a live table, without moving a row or refusing one."""

import threading
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, connections, transaction

from core.clock import now
from core.db import tenant_context
from core.history import partitions
from core.history.partitions import AHEAD, Busy, count_strays, make_ahead, read_ranges
from core.history.ranges import gaps
from tests.webhooks.history.past import attempt, body, delivery, event, lies_in, owner
from webhooks.history.partitions import EVENTS, HISTORIES
from webhooks.models import Event

TABLES = [history.table for history in HISTORIES]


def make_all(at=None):
    return [name for history in HISTORIES for name in make_ahead(history, at=at or now())]


def covered(table, at):
    return any(one.lower <= at < one.upper for one in read_ranges(table))


def test_rows_of_the_default_partition_become_a_range_unmoved(flat, world):
    old, new = event(world, now() - timedelta(days=200)), event(world, now())
    place = owner("SELECT ctid FROM webhooks_event WHERE id = %s", new.id)

    make_ahead(EVENTS, at=now())

    assert lies_in("webhooks_event", old.id) == lies_in("webhooks_event", new.id) == "webhooks_event_first"
    assert owner("SELECT ctid FROM webhooks_event WHERE id = %s", new.id) == place
    assert count_strays("webhooks_event") == 0


@pytest.mark.parametrize("history", HISTORIES, ids=TABLES)
def test_everything_two_months_ahead_has_a_range(flat, history):
    make_ahead(history, at=now())

    assert all(covered(history.table, now() + timedelta(days=days)) for days in range(AHEAD.days))
    assert make_ahead(history, at=now()) == []


def test_row_finds_the_range_of_its_time(flat, world):
    make_all()
    later = now() + timedelta(days=50)
    made = event(world, later)
    sent = delivery(made, world.endpoint("https://example.org/hook")["id"])

    assert lies_in("webhooks_event", made.id) == f"webhooks_event_{later:%Y%m}01"
    assert lies_in("webhooks_delivery", sent.id) == f"webhooks_delivery_{later:%Y%m}01"
    assert lies_in("webhooks_event_body", body(made).id) == f"webhooks_event_body_{later:%Y%m}01"
    monday = later - timedelta(days=later.weekday())
    assert lies_in("webhooks_attempt", attempt(sent).id) == f"webhooks_attempt_{monday:%Y%m%d}"


def test_history_that_nobody_kept_for_months_is_taken_up_again(flat, world):
    long_ago = now() - timedelta(days=150)
    make_ahead(EVENTS, at=long_ago)
    late = event(world, now() - timedelta(days=20))
    current = event(world, now())

    make_ahead(EVENTS, at=now())

    assert lies_in("webhooks_event", late.id) == lies_in("webhooks_event", current.id) != "webhooks_event_rest"
    assert covered("webhooks_event", now() + timedelta(days=60))


def test_strays_are_moved_some_at_a_time(flat, world, monkeypatch):
    monkeypatch.setattr(partitions, "MOST_MOVED", 3)
    make_ahead(EVENTS, at=now())
    ahead = now() + timedelta(days=400)
    strays = [event(world, ahead + timedelta(seconds=number // 2)) for number in range(8)]

    made = make_ahead(EVENTS, at=now())

    places = [lies_in("webhooks_event", one.id) for one in strays]
    assert len(made) == 4
    assert "webhooks_event_rest" not in places
    assert {places.count(place) for place in places} == {2}, "rows of one moment stay together"
    assert count_strays("webhooks_event") == 0
    assert [bytes(one.body) for one in world.rows(Event, type="product.created")] == [one.body for one in strays]


def test_strays_on_both_sides_and_the_present_all_find_a_range(flat, world):
    make_ahead(EVENTS, at=now() - timedelta(days=300))
    rows = [event(world, now() + timedelta(days=days)) for days in (-900, -100, 0, 700)]

    make_ahead(EVENTS, at=now())

    assert all(lies_in("webhooks_event", one.id) not in ("", "webhooks_event_rest") for one in rows)
    assert make_ahead(EVENTS, at=now()) == []


@pytest.mark.parametrize("table", TABLES)
def test_made_partition_is_walled_and_indexed_like_the_rest(flat, table):
    make_all()
    children = [one.name for one in read_ranges(table)] + [f"{table}_rest"]
    indexes, triggers = set(), set()
    for child in children:
        indexes.add(tuple(sorted(definition(child))))
        triggers.add(
            tuple(
                sorted(owner("SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal", child))
            )
        )
        allowed = owner(
            "SELECT role FROM unnest(ARRAY['hp_app', 'hp_dispatcher', 'hp_runtime', 'hp_platform', 'public'])"
            " role WHERE has_table_privilege(role, %s, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')",
            child,
        )
        assert allowed == [], "a partition is reached through its parent only"
        assert owner("SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = %s", child) == [("hp_owner",)]
    assert len(indexes) == len(triggers) == 1
    options = owner("SELECT DISTINCT reloptions FROM pg_class WHERE relname = ANY(%s)", children)
    assert len(options) == 1


def definition(child):
    rows = owner("SELECT indexdef FROM pg_indexes WHERE tablename = %s", child)
    return [text.split(" USING ")[1] for (text,) in rows]


@pytest.mark.parametrize("statement", ["UPDATE {0} SET tenant_id = tenant_id", "DELETE FROM {0}"])
@pytest.mark.parametrize("name", ["", "webhooks_delivery", "webhooks_event_first"])
def test_made_partition_is_append_only_even_to_its_owner(flat, world, statement, name):
    one = event(world, now())
    make_ahead(EVENTS, at=now())

    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic("owner"):
        owner(f"SELECT set_config('hp.may_change', '{name}', true)")
        owner(statement.format("webhooks_event"))
    assert lies_in("webhooks_event", one.id) == "webhooks_event_first"


def test_naming_the_table_opens_it_to_nobody_but_the_owner(flat, world):
    event(world, now())
    make_ahead(EVENTS, at=now())
    owner("GRANT DELETE ON webhooks_event TO hp_app")
    try:
        with (
            pytest.raises(DatabaseError, match="never changed"),
            tenant_context(world.tenant.id),
            connection.cursor() as cursor,
        ):
            cursor.execute("SELECT set_config('hp.may_change', 'webhooks_event', true)")
            cursor.execute("DELETE FROM webhooks_event")
    finally:
        owner("REVOKE DELETE ON webhooks_event FROM hp_app")


@pytest.mark.parametrize("role", ["hp_runtime", "hp_app", "hp_dispatcher"])
def test_only_the_platform_may_change_ranges(role):
    allowed = owner(
        "SELECT p.proname FROM pg_proc p WHERE p.proname LIKE 'hp_history%%' AND has_function_privilege(%s, p.oid, 'EXECUTE')",
        role,
    )

    assert allowed == []


@pytest.mark.parametrize(
    "call",
    [
        "hp_history_make('organizations_tenant', now(), now() + interval '1 day')",
        "hp_history_move('ledger_event', now(), now() + interval '1 day', 10)",
        "hp_history_drop('ledger_event', 'ledger_event', '1 year')",
        "hp_history_shell('webhooks_event', 'mine')",
        "hp_history_promise('webhooks_event', NULL, now())",
        "hp_history_absorb('webhooks_event', NULL, now() + interval '1 year')",
    ],
)
def test_functions_do_their_one_task_only(call):
    with pytest.raises(DatabaseError), connections["platform"].cursor() as cursor:
        cursor.execute(f"SELECT {call}")


def test_writers_go_on_while_the_ranges_are_made(flat, world):
    stop, faults, written = threading.Event(), [], []

    def write():
        try:
            while not stop.is_set():
                written.append(world.record())
        except Exception as error:
            faults.append(error)
        finally:
            connection.close()

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    made = make_all()
    stop.set()
    for writer in writers:
        writer.join()

    assert faults == []
    assert made
    found = [row.resource_id for row in world.rows(Event, type="product.created")]
    assert sorted(found) == sorted(written)
    assert count_strays("webhooks_event") == 0


def test_transaction_that_never_ends_is_not_waited_for(flat, world, monkeypatch):
    monkeypatch.setattr(partitions, "_TRIES", 2)
    event(world, now())
    done = threading.Event()
    ready = threading.Event()

    def hold():
        with tenant_context(world.tenant.id):
            Event.objects.filter(tenant_id=world.tenant.id).first()
            ready.set()
            done.wait(20)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    ready.wait(10)
    try:
        with pytest.raises(Busy):
            make_ahead(EVENTS, at=now())
    finally:
        done.set()
        holder.join()

    assert owner("SELECT count(*) FROM pg_constraint WHERE conname = 'hp_absorbed'") == [(0,)]
    assert read_ranges("webhooks_event") == []
    assert make_ahead(EVENTS, at=now())[0] == "webhooks_event_first"


def test_promise_of_a_killed_run_is_taken_back(flat, world):
    event(world, now())
    owner("ALTER TABLE webhooks_event_rest ADD CONSTRAINT hp_absorbed CHECK (created_at < '2020-01-01') NOT VALID")

    make_ahead(EVENTS, at=now())

    assert owner("SELECT count(*) FROM pg_constraint WHERE conname = 'hp_absorbed'") == [(0,)]
    assert len(gaps(read_ranges("webhooks_event"))) == 1
