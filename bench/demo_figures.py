"""The figures of the invoice story in `./dev demo`: metrics of its products in three time zones, and insights that come and go."""

import itertools
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from bench.demo_http import DemoFailed, expect, step
from bench.demo_order_goods import Story, days, take_in

ZONES = ("Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe")
INTERVALS = ("day", "week", "month", "quarter")
# Of each metric, the values of infusion sets, foam dressings and the other dressings, of which none came. The sets were ordered
# twice, with the replacement; 110 were accepted and 50 went back; 17 are left, at 4.00 each, and 130 were shipped. Of the 100 that
# are due 120 were shipped, since 20 were rejected or short. What replaces ordered goods has no list price and no promised date.
FIGURES: dict[str, tuple[Any, ...]] = {
    "orders_count": (2, 1, 1),
    "orders_value": ("375.00", "240.00", "0.00"),
    "cancel_rate": ("0.0000", "0.0000", "1.0000"),
    "return_rate": ("0.4545", "0.0000", None),
    "price_vs_list": ("0.9375", None, None),
    "stock_value": ("68.00", "900.00", None),
    "days_of_cover": ("3.6615", "84.0000", None),
    "expiring_value": (None, None, None),
    "active_offers": (1, 1, 1),
    "fill_rate": ("1.2000", None, None),
    "on_time_in_full": ("1.0000", None, None),
}
_DUE = ("fill_rate", "on_time_in_full")
_HELD = ("stock_value", "expiring_value", "days_of_cover", "active_offers")  # of every product that there is


def _metric(story: Story, name: str, zone: str, interval: str) -> list[dict[str, Any]]:
    """Read the buckets of a metric by products, from a week before the story to two weeks behind it; of stock, today's alone."""
    first, span = story.begun.astimezone(ZoneInfo(zone)).date() - timedelta(days=7), timedelta(days=21)
    if name in _HELD:
        first, span = datetime.now(ZoneInfo(zone)).date(), timedelta(days=1)
    asked = {
        "metric": name, "from": first.isoformat(), "to": (first + span).isoformat(), "interval": interval,
        "group_by": "product", "timezone": zone, "currency": "EUR",
    }  # fmt: skip
    answer = story.supplier.call("GET", f"/v1/analytics/metrics?{urlencode(asked)}")
    found: list[dict[str, Any]] = expect(answer, 200, f"read {name}")["data"]["buckets"]
    return found


def _interval(story: Story, zone: str, now: datetime) -> str:
    """The shortest interval of which one bucket holds the whole story: days, unless midnight has passed meanwhile."""
    first, last = (one.astimezone(ZoneInfo(zone)).date() for one in (story.begun, now))
    same = (first == last, first.isocalendar()[:2] == last.isocalendar()[:2], first.month == last.month)
    return next((name for name, is_one in zip(INTERVALS, same, strict=False) if is_one), "quarter")


def _value(buckets: list[dict[str, Any]], product: str, at: datetime) -> Any:
    """The value of a product in the last bucket that has begun; of money its amount alone."""
    mine = [one for one in buckets if one["group"] == product and datetime.fromisoformat(one["start"]) <= at]
    value = mine[-1]["value"] if mine else None
    return value["amount"] if isinstance(value, dict) else value


def read_figures(story: Story) -> None:
    """Hold what the metrics say of the story's products, in each zone, against what has happened."""
    now = datetime.now(UTC)
    for zone in ZONES:
        found = {name: _of_story(story, name, zone, now) for name in FIGURES}
        if found != FIGURES:
            wrong = {name: (found[name], wanted) for name, wanted in FIGURES.items() if found[name] != wanted}
            raise DemoFailed(f"figures in {zone} are not those of the story: {wrong}")
        _check_hours(story, zone, now)
        start = _check_starts(story, zone, now)
        _check_sums(story, zone)
        orders, value, back = (found[name][0] for name in ("orders_count", "orders_value", "return_rate"))
        step(
            f"{zone}: the day begins at {start[:16]}Z; sets in {orders} orders for {value} EUR, {back} of what came went back"
        )
    step(
        f"{len(FIGURES) + 1} metrics of three products are those of the story in each zone; days, weeks and months agree"
    )


def _of_story(story: Story, name: str, zone: str, now: datetime) -> tuple[Any, ...]:
    """The values of the story's products; what is about promised dates stands in the bucket of that date."""
    is_due = name in _DUE
    buckets = _metric(story, name, zone, "day" if is_due else _interval(story, zone, now))
    found = []
    for product in ("set", "foam", "dressing"):
        at = now
        promised = story.line(product)["promised_date"] if is_due else None
        if promised:
            at = datetime.combine(date.fromisoformat(promised), datetime.min.time(), ZoneInfo(zone))
        found.append(_value(buckets, story.products[product]["id"], at))
    return tuple(found)


def _check_hours(story: Story, zone: str, now: datetime) -> None:
    """Require that the hours until the acceptance are those of the order, but for a second."""
    buckets = _metric(story, "acceptance_hours", zone, _interval(story, zone, now))
    found = _value(buckets, story.products["foam"]["id"], now)
    sent, accepted = (datetime.fromisoformat(story.own()[name]) for name in ("sent_at", "accepted_at"))
    hours = (accepted - sent) / timedelta(hours=1)
    if abs(float(found) - hours) > 0.0005:
        raise DemoFailed(f"the order took {hours} hours, not {found}")


def _check_starts(story: Story, zone: str, now: datetime) -> str:
    """Require that each bucket begins at midnight of the zone; return the begin of today's."""
    starts = [one["start"] for one in _metric(story, "orders_count", zone, "day")]
    local = [datetime.fromisoformat(one).astimezone(ZoneInfo(zone)) for one in starts]
    if {(one.hour, one.minute) for one in local} != {(0, 0)}:
        raise DemoFailed(f"buckets in {zone} do not begin at midnight: {starts}")
    return max(one for one in starts if datetime.fromisoformat(one) <= now)


def _check_sums(story: Story, zone: str) -> None:
    """Require that all intervals give the value of the order, as it reads."""
    mine = {one["id"] for one in story.products.values()}
    sums = {
        interval: round(sum(float(one["value"]["amount"]) for one in buckets if one["group"] in mine), 2)
        for interval in INTERVALS
        if (buckets := _metric(story, "orders_value", zone, interval))
    }
    if {*sums.values()} != {float(story.received()["totals"]["net"])}:
        raise DemoFailed(f"values of orders in {zone} differ by interval: {sums}")


def _insight(story: Story, kind: str, name: str) -> dict[str, Any] | None:
    """Find what is told of a product or a lot."""
    seen = 0
    for page in itertools.count(1):
        path = f"/v1/analytics/insights?limit=100&page={page}"
        found = expect(story.supplier.call("GET", path), 200, "read the insights")["data"]
        for one in found["items"]:
            if (one["type"], one["subject"]["name"]) == (kind, name):
                return dict(one)
        seen += len(found["items"])
        if not found["items"] or seen >= found["total"]:
            break
    return None


def read_insights(story: Story) -> None:
    """Read what needs a look: few sets are left, and a lot expires soon; when the cause is gone, so is the insight."""
    name, lot = story.products["set"]["name"], f"SHORT-{story.mark}"
    few = _insight(story, "stock_out_risk", name)
    evidence = {"sellable": 17, "shipped_in_28_days": 130, "days_of_cover": "3.6615"}
    if few is None or (few["severity"], few["evidence"]) != ("medium", evidence):
        raise DemoFailed(f"the insight about the sets reads otherwise: {few}")
    take_in(story, "set", lot, days(20), 500)
    short = _insight(story, "expiring_stock", lot)
    if short is None or (short["severity"], short["evidence"]["on_hand"]) != ("high", 500):
        raise DemoFailed(f"the insight about the lot reads otherwise: {short}")
    expiring = _of_story(story, "expiring_value", ZONES[-1], datetime.now(UTC))
    if expiring != ("2000.00", None, None):
        raise DemoFailed(f"goods that expire are worth {expiring}")
    if _insight(story, "stock_out_risk", name):
        raise DemoFailed("the insight about the sets has outlived its cause")
    take_in(story, "set", lot, days(20), -500)
    if _insight(story, "expiring_stock", lot):
        raise DemoFailed("the insight about the lot has outlived its cause")
    step(
        f"insight stock_out_risk: 17 sets left, 130 shipped in 28 days, {evidence['days_of_cover']} days; gone as 500 come in"
    )
    step(f"insight expiring_stock: their lot expires in 20 days, expiring_value {expiring[0]}; gone with the lot")
