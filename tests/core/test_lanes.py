"""Lanes: which tenant is in which, how statements and queries are narrowed, and whose turn it is."""

import re
from collections import Counter
from uuid import UUID, uuid4

import pytest
from django.db import connection

from core import lanes
from core.db import role_context
from core.lanes import HERE, Lane, Turns
from core.row_security import DISPATCHER
from ledger.models import Pending

STATEMENT = f"SELECT id FROM ledger_pending WHERE due_at <= %(now)s {HERE} ORDER BY due_at"


def lanes_of(tenants, count):
    """The lane of each tenant, with the hash that it follows from."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT hp_lane(one, %s), uuid_hash(one) FROM unnest(%s::uuid[]) AS one", [count, list(map(str, tenants))]
        )
        return cursor.fetchall()


@pytest.mark.parametrize("count", [1, 2, 4, 32])
def test_lane_is_the_range_of_hashes_that_a_shard_holds(count):
    """Source: Citus, `CreateShardsWithRoundRobinPolicy`: equal ranges of the signed 32-bit hash, the lowest first."""
    size = 2**32 // count
    found = lanes_of([uuid4() for _ in range(400)], count)
    assert all(-(2**31) + number * size <= value < -(2**31) + (number + 1) * size for number, value in found)
    assert {number for number, _ in found} == set(range(count))


def test_lanes_of_any_number_are_about_equal():
    found = Counter(number for number, _ in lanes_of([uuid4() for _ in range(3000)], 3))
    assert sorted(found) == [0, 1, 2]
    assert min(found.values()) > 800


def test_each_row_is_in_one_lane(settings):
    settings.LANES = 4
    tenants = [uuid4() for _ in range(40)]
    with role_context(DISPATCHER):
        Pending.objects.bulk_create(
            Pending(tenant_id=tenant, event_id=uuid4(), subscriber="tests.lanes") for tenant in tenants
        )
        rows = Pending.objects.filter(subscriber="tests.lanes")
        found = [set(lane.filter(rows).values_list("tenant_id", flat=True)) for lane in lanes.lanes()]
        rows.delete()
    assert sum(map(len, found)) == len(tenants)
    assert set().union(*found) == set(tenants)
    assert all(found)


def test_statement_and_query_of_the_only_lane_are_not_narrowed():
    (lane,) = lanes.lanes()
    assert lane.sql(STATEMENT) == STATEMENT.replace(HERE, "")
    assert "hp_lane" not in str(lane.filter(Pending.objects.all()).query)


def test_all_lanes_share_the_text_of_a_statement():
    first, second = (Lane(number, 4).sql(STATEMENT) for number in (0, 1))
    assert first == second
    assert "AND hp_lane(tenant_id, %(lanes)s) = %(lane)s ORDER BY" in first
    assert Lane(1, 4).parameters == {"lane": 1, "lanes": 4}


def test_statement_that_cannot_be_narrowed_is_a_programming_error():
    with pytest.raises(ValueError, match="where the lane's condition goes"):
        Lane(0, 1).sql("SELECT id FROM ledger_pending")


def test_planner_sees_through_the_function():
    """A call for each row would cost several times what the hash costs."""
    with role_context(DISPATCHER), connection.cursor() as cursor:
        cursor.execute("EXPLAIN SELECT id FROM ledger_pending WHERE hp_lane(tenant_id, 4) = 1")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "uuid_hash" in plan
    assert not re.search(r"\bhp_lane\(", plan)


def test_each_lane_begins_a_round_as_often_as_the_others():
    served = [Lane(number, 4) for number in range(4)]
    turns = Turns(served)
    rounds = [turns.round() for _ in range(8)]
    assert all(sorted(one, key=lambda lane: lane.number) == served for one in rounds)
    assert Counter(one[0] for one in rounds) == dict.fromkeys(served, 2)
    assert Counter(one[-1] for one in rounds) == dict.fromkeys(served, 2)


def test_turns_of_one_queue_do_not_move_those_of_another(settings):
    settings.LANES = 2
    begun = [lanes.in_turn(queue)[0].number for queue in ("tests.one", "tests.two") * 3]
    assert begun == [0, 0, 1, 1, 0, 0]


def test_chosen_lanes_come_once_and_none_means_all(settings):
    settings.LANES = 4
    assert [lane.number for lane in lanes.chosen([3, 1, 3])] == [1, 3]
    assert lanes.chosen([]) == lanes.lanes()


@pytest.mark.parametrize("number", [-1, 4])
def test_lane_that_is_not_there_is_refused(settings, number):
    settings.LANES = 4
    with pytest.raises(ValueError, match=f"no lane {number}: LANES is 4"):
        lanes.chosen([0, number])


@pytest.mark.parametrize("count", [0, -1, 1025])
def test_number_of_lanes_out_of_bounds_is_told_by_the_check(settings, count):
    settings.LANES = count
    assert [one.id for one in lanes.check_settings()] == ["core.E001"]


def test_number_of_lanes_in_bounds_passes_the_check(settings):
    settings.LANES = 1024
    assert lanes.check_settings() == []
    assert len(lanes.lanes()) == 1024


def test_lane_of_a_tenant_never_changes():
    """Rows of a tenant would be claimed by two lanes while a new version of the function is rolled out."""
    tenants = [UUID(int=number) for number in (0, 1, 2**64, 2**127)]
    assert [number for number, _ in lanes_of(tenants, 1024)] == [834, 262, 230, 675]
