"""Movements are counted by day and hour: totals are sums, deep pages read one hour, and neither tells more than a caller may see."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.http import QueryDict

from api.listing import page_call, read_query
from core.db import tenant_context
from organizations.models import Tenant
from suppliers.inventory.models import StockLevel, StockMovement
from suppliers.inventory.movements.counters import fold_days
from suppliers.inventory.movements.models import MovementCounter
from suppliers.inventory.queries import WITHIN
from suppliers.inventory.views import StockMovementViewSet
from tests import factories
from tests.suppliers.inventory.shelf import broken, refused, reserve
from tests.suppliers.inventory.test_inventory import ADJUST, MOVE, MOVEMENTS, adjust, line, place

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
DAYS, OF_DAY = 12, 150
OF_HOUR = 9  # at most


def fill(shelf, *, by_hour=True):
    """So many movements on each of some days, three each 28 minutes, at two levels in turn; return the place of the first."""
    product = shelf.product()
    here, there = shelf.place("Here"), shelf.place("There")
    levels = [shelf.stock(product, 1, place=one) for one in (here, there)]
    with tenant_context(shelf.id), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO suppliers_stockmovement (id, created_at, tenant_id, product_id, location_id, level_id, lot_number,"
            " type, quantity, balance_after, reason_code, reference_type, reference_id, reference_text, note, actor_id, actor_kind)"
            " SELECT uuidv7(), %s + ((n / %s) || ' days')::interval + ((n %% %s / 3 * 28) || ' min')::interval, v.tenant_id, v.product_id,"
            " v.location_id, v.id, '', 'adjustment', CASE WHEN n %% 4 < 2 THEN 1 ELSE -1 END, 1, '', 'test', v.id, '', '', v.tenant_id, 'system'"
            " FROM generate_series(0, %s - 1) n JOIN suppliers_stocklevel v ON v.tenant_id = %s AND v.id = (%s::uuid[])[n %% 2 + 1]",
            [FIRST, OF_DAY, OF_DAY, DAYS * OF_DAY, shelf.id, levels],
        )
        cursor.execute(
            "INSERT INTO suppliers_movementcounter (tenant_id, day, stripe, movements)"
            " SELECT %s, %s::date + d, d %% 16, %s FROM generate_series(0, %s - 1) d",
            [shelf.id, FIRST.date(), OF_DAY, DAYS],
        )
        if by_hour:
            cursor.execute(
                "UPDATE suppliers_movementcounter SET hours = (SELECT array_agg(m ORDER BY h) FROM (SELECT h, (SELECT count(*)"
                " FROM suppliers_stockmovement m WHERE m.tenant_id = %(tenant)s AND m.created_at >= day + make_interval(hours => h)"
                " AND m.created_at < day + make_interval(hours => h + 1)) AS m FROM generate_series(0, 23) h) c)"
                " WHERE tenant_id = %(tenant)s AND movements = %(of_day)s",
                {"tenant": shelf.id, "of_day": OF_DAY},
            )
        cursor.execute("ANALYZE suppliers_stockmovement")
    assert broken(shelf) == []
    return here


def rows(shelf, **narrowed):
    with tenant_context(shelf.id):
        found = StockMovement.objects.filter(tenant_id=shelf.id, **narrowed).order_by("created_at", "id")
        return [str(key) for key in found.values_list("id", flat=True)]


def page(api, query):
    answer = api.get(f"{MOVEMENTS}?{query}")
    assert answer.status_code == 200, answer.content
    data = answer.json()["data"]
    return [one["id"] for one in data["items"]], data["total"]


@pytest.mark.parametrize("by_hour", [True, False])
def test_each_page_holds_what_stands_there(shelf, by_hour):
    fill(shelf, by_hour=by_hour)
    oldest = rows(shelf)
    newest = oldest[::-1]
    for sort, wanted in (("-at", newest), ("at", oldest)):
        for limit in (7, 50, 100):
            for first in (0, 900, 1_000, 1_049, 1_350, 1_500, 1_750, 1_799, 1_800, 5_000):
                number = first // limit + 1
                found, total = page(shelf.api, f"sort={sort}&limit={limit}&page={number}")
                assert total == DAYS * OF_DAY + 2
                assert found == wanted[(number - 1) * limit : number * limit], (sort, limit, number)


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        (FIRST, None), (FIRST + timedelta(days=1), FIRST + timedelta(days=11)), (None, FIRST + timedelta(days=9)),
        (FIRST + timedelta(days=1, minutes=5), FIRST + timedelta(days=10, minutes=7)), (FIRST + timedelta(days=400), None),
        (FIRST + timedelta(days=3), FIRST + timedelta(days=3)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("by_hour", [True, False])
def test_bounds_narrow_total_and_pages(shelf, begin, end, by_hour):
    fill(shelf, by_hour=by_hour)
    narrowed = ({"created_at__gte": begin} if begin else {}) | ({"created_at__lt": end} if end else {})
    wanted = rows(shelf, **narrowed)[::-1]
    bounds = [f"{name}={one:%Y-%m-%dT%H:%M:%SZ}" for name, one in (("from", begin), ("to", end)) if one]
    for number in (1, 11, 14, 90):
        found, total = page(shelf.api, f"{'&'.join(bounds)}&limit=100&page={number}")
        assert (found, total) == (wanted[(number - 1) * 100 : number * 100], len(wanted))


def test_plain_dates_begin_in_the_zone_of_the_tenant(shelf):
    fill(shelf)
    Tenant.objects.filter(pk=shelf.id).update(time_zone="Pacific/Pago_Pago")  # 11 hours behind
    begin = FIRST + timedelta(days=4, hours=11)
    wanted = rows(shelf, created_at__gte=begin, created_at__lt=begin + timedelta(days=2))[::-1]
    assert len(wanted) == 2 * OF_DAY
    assert page(shelf.api, "from=2026-03-05&to=2026-03-07&limit=100") == (wanted[:100], len(wanted))
    assert page(shelf.api, "from=2026-03-05&to=2026-03-05")[1] == 0


def test_days_of_other_offsets_are_none_of_utc(shelf):
    fill(shelf)
    wanted = rows(shelf, created_at__gte=FIRST + timedelta(days=4, hours=5))[::-1]
    for begin in ("2026-03-05T00:00:00-05:00", "2026-03-05T05:00:00Z"):
        assert page(shelf.api, f"from={begin}&limit=20") == (wanted[:20], len(wanted))
    of_day = page(shelf.api, "from=2026-03-05T02:00:00%2B02:00&to=2026-03-06T00:00:00Z&limit=100&page=2")
    assert of_day == (rows(shelf, created_at__date=FIRST.date() + timedelta(days=4))[::-1][100:], OF_DAY)


@pytest.mark.parametrize("query", ["from=2026-03-07&to=2026-03-05", "to=soon", "from=2026-03-05T00:00:00"])
def test_bad_periods_are_refused(shelf, query):
    refused(shelf.api.get(f"{MOVEMENTS}?{query}"), 400, "validation_error")


def test_other_filters_count_rows(shelf):
    here = fill(shelf)
    wanted = rows(shelf, location_id=here)
    assert page(shelf.api, f"location_id={here}&limit=10&page=2") == (wanted[::-1][10:20], len(wanted))


def test_a_membership_of_one_place_counts_that_place_alone(shelf):
    here = fill(shelf)
    person, _ = factories.member(shelf.tenant, ["supplier_admin"], location_ids=[here])
    api = factories.Api(token=factories.bearer(person), tenant=shelf.tenant)
    wanted = rows(shelf, location_id=here)[::-1]
    assert len(wanted) == DAYS * OF_DAY // 2 + 1
    for number in (1, 17, 19, 25, 40):
        assert page(api, f"limit=50&page={number}") == (wanted[(number - 1) * 50 : number * 50], len(wanted))
    until = FIRST + timedelta(days=6)
    early = rows(shelf, location_id=here, created_at__lt=until)[::-1]
    assert page(api, f"to={until:%Y-%m-%dT%H:%M:%SZ}&limit=50") == (early[:50], len(early))


def read_by_plan(shelf, query, number):
    """Explain and run a page; return how many rows of movements were read."""
    given = read_query(StockMovementViewSet.listing, QueryDict(query), "page")
    asked = type(given)(given.listing, given.selection, given.order, given.conditions, (WITHIN,))
    call = page_call(asked, shelf.id, page=number, limit=20)
    with tenant_context(shelf.id), connection.cursor() as cursor:
        cursor.execute("SET LOCAL app.location_ids = '{}'")
        cursor.execute(f"PREPARE deep AS {call.statement.sql.decode()}")
        marks = ", ".join(["%s"] * len(call.parameters))
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE deep ({marks})", list(call.parameters))
        answer = cursor.fetchone()[0]
        cursor.execute("DEALLOCATE deep")
    plan = (json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]

    def nodes(one):
        return [one, *(inner for child in one.get("Plans", ()) for inner in nodes(child))]

    scans = [one for one in nodes(plan) if one.get("Relation Name", "").startswith("suppliers_stockmovement")]
    assert scans
    assert {one["Node Type"] for one in scans if one["Actual Loops"]} <= {"Index Scan", "Index Only Scan"}
    return sum((one["Actual Rows"] + one.get("Rows Removed by Filter", 0)) * one["Actual Loops"] for one in scans)


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("", 60), ("", 85), ("sort=at", 80), ("from=2026-03-02T00:00:00Z&to=2026-03-12T00:00:00Z", 70), ("", 4_000),
    ],
)  # fmt: skip
@pytest.mark.parametrize("by_hour", [True, False])
def test_a_deep_page_reads_its_own_hour_alone(shelf, query, number, by_hour):
    fill(shelf, by_hour=by_hour)
    assert read_by_plan(shelf, query, number) <= (OF_HOUR if by_hour else OF_DAY) + 20


@pytest.mark.parametrize("query", ["", "from=2026-03-02T00:00:00Z"])
def test_the_first_page_reads_no_more_than_its_rows(shelf, query):
    fill(shelf)
    assert read_by_plan(shelf, query, 1) <= 22


def counted(shelf):
    with tenant_context(shelf.id):
        return sum(MovementCounter.objects.filter(tenant_id=shelf.id).values_list("movements", flat=True))


def test_every_movement_is_counted_and_no_other(shelf, buyer):
    product, here, there = shelf.product(), place(shelf), place(shelf)
    adjust(shelf, line(product, here, 10), line(shelf.product(), here, 5))
    assert counted(shelf) == 2
    body = {
        "from_location_id": here["id"],
        "to_location_id": there["id"],
        "lines": [{"product_id": product["id"], "quantity": 3}],
    }
    assert shelf.api.post(MOVE, json=body).status_code == 201
    assert counted(shelf) == 4
    same = line(product, here, 7, mode="set", expected_quantity=7, reason_code="count")
    adjust(shelf, same)  # finds what it expected: no movement
    assert counted(shelf) == 4
    shelf.offer(product)
    shelf.settle(reservation_cap_percent=100)
    reserve(buyer, shelf, (product, 10))
    fewer = line(product, here, 1, mode="set", expected_quantity=7, reason_code="count", on_reserved="break")
    adjust(shelf, fewer)
    assert counted(shelf) == 5
    assert shelf.api.post(ADJUST, json={"lines": [line(product, here, -99, reason_code="lost")]}).status_code == 409
    assert counted(shelf) == 5
    assert broken(shelf, buyer) == []


def test_days_that_are_over_are_folded(shelf):
    fill(shelf)
    adjust(shelf, line(shelf.product(), place(shelf), 1))
    before = counted(shelf)
    assert (
        fold_days(at=FIRST + timedelta(days=8)) >= 5
    )  # the first day stood in the first stripe; others have tenants, too
    with tenant_context(shelf.id):
        mine = MovementCounter.objects.filter(tenant_id=shelf.id)
        late = FIRST + timedelta(days=6)
        assert {row.stripe for row in mine if row.day < late.date()} == {0}
        assert {row.stripe for row in mine if row.day >= late.date()} >= {6, 7, 8, 9, 10, 11}
    assert counted(shelf) == before
    assert fold_days(at=FIRST + timedelta(days=8)) == 0
    assert broken(shelf) == []


def test_the_hours_of_stripes_are_folded_into_those_of_the_day(shelf):
    day, hours = FIRST.date(), [0] * 24
    with tenant_context(shelf.id):
        for stripe, hour, movements in ((0, 3, 5), (1, 3, 2), (7, 23, 4), (9, 0, 1)):
            of_stripe = [movements if one == hour else 0 for one in range(24)]
            hours[hour] += movements
            MovementCounter.objects.create(
                tenant_id=shelf.id, day=day, stripe=stripe, movements=movements, hours=of_stripe
            )
        assert fold_days(at=FIRST + timedelta(days=8)) >= 1
        (row,) = MovementCounter.objects.filter(tenant_id=shelf.id)
    assert (row.stripe, row.movements, row.hours) == (0, 12, hours)


def test_a_stripe_without_hours_leaves_a_day_without(shelf):
    """The release before counted no hours."""
    fill(shelf)
    with tenant_context(shelf.id):
        last = MovementCounter.objects.filter(tenant_id=shelf.id, movements=OF_DAY).order_by("day").last()
        last.hours[0] -= 1
        last.save(update_fields=["hours"])
    assert broken(shelf) == []
    wanted = rows(shelf)[::-1]
    for number in (1_200 // 20, 1_500 // 20):
        assert page(shelf.api, f"limit=20&page={number}") == (wanted[(number - 1) * 20 : number * 20], len(wanted))


def test_the_proof_finds_an_hour_that_was_miscounted(shelf):
    shelf.stock(shelf.product(), 5)
    with tenant_context(shelf.id):
        row = MovementCounter.objects.get(tenant_id=shelf.id)
        hour = row.hours.index(1)
        row.hours[hour], row.hours[hour - 1] = 0, 1
        row.save(update_fields=["hours"])
    found = sorted(one.what.partition(":")[2] for one in broken(shelf))
    assert found == [" 0, movements: 1", " 1, movements: 0"]


def test_the_proof_finds_a_day_that_was_miscounted(shelf):
    level = shelf.stock(shelf.product(), 5)
    with tenant_context(shelf.id):
        MovementCounter.objects.filter(tenant_id=shelf.id).update(movements=3)
    (found,) = broken(shelf)
    assert (found.table, found.what.partition(":")[2]) == ("suppliers_movementcounter", " 3, movements: 1")
    with tenant_context(shelf.id):
        MovementCounter.objects.filter(tenant_id=shelf.id).delete()
        assert StockLevel.objects.get(tenant_id=shelf.id, id=level).on_hand == 5
    assert [one.what.partition(":")[2] for one in broken(shelf)] == [" 0, movements: 1"]
