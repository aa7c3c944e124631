"""What metrics are, counted in the plainest way: every fact is looked at, in the asked zone. Nothing of the service is used."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from statistics import median
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

MINUTES = timedelta(minutes=15)


@dataclass
class Arrival:
    """So much of a line that has come, and when."""

    at: datetime
    units: int
    rejected: int


@dataclass
class Line:
    """A line of an order."""

    product: UUID
    category: str
    ordered: int
    cancelled: int
    accepted: int
    shipped: int
    net: Decimal
    list_net: Decimal | None
    due: date | None
    arrivals: list[Arrival] = field(default_factory=list)

    def whole_at(self) -> datetime | None:
        """Return when as much was there as was not cancelled."""
        have = 0
        for one in sorted(self.arrivals, key=lambda one: one.at):
            have += one.units - one.rejected
            if have >= self.ordered - self.cancelled:
                return one.at
        return None


@dataclass
class Order:
    """An order that was sent."""

    id: UUID
    buyer: UUID
    location: UUID
    currency: str
    sent: datetime
    accepted: datetime | None
    lines: list[Line]


@dataclass(frozen=True)
class Question:
    """What is asked; `begin` and `end` begin quarters of an hour."""

    begin: datetime
    end: datetime
    interval: str
    zone: str
    group: str
    currency: str

    def day(self, at: datetime) -> date:
        """Return the local day of an instant."""
        return at.astimezone(ZoneInfo(self.zone)).date()

    def holds(self, at: datetime) -> bool:
        """Tell whether the quarter of an hour of an instant lies in the span."""
        quarter = at - timedelta(minutes=at.minute % 15, seconds=at.second, microseconds=at.microsecond)
        return self.begin <= quarter < self.end

    def days(self) -> Iterator[date]:
        """Return the local days of the span."""
        one, last = self.day(self.begin), self.day(self.end - timedelta(microseconds=1))
        while one <= last:
            yield one
            one += timedelta(days=1)

    def bucket(self, day: date) -> Any:
        """Return what tells the bucket of a day from the others."""
        if self.interval == "week":
            return day.isocalendar()[:2]
        if self.interval == "month":
            return (day.year, day.month)
        return (day.year, (day.month - 1) // 3) if self.interval == "quarter" else day

    def buckets(self) -> list[Any]:
        """Return the buckets in their order."""
        return [*dict.fromkeys(map(self.bucket, self.days()))]


Row = tuple[Any, str | None, Any]  # bucket, group, what is added up


def _group(question: Question, order: Order, line: Line) -> str | None:
    names = {
        "product": str(line.product),
        "category": line.category or None,
        "buyer": str(order.buyer),
        "location": str(order.location),
    }
    return names.get(question.group)


def _lines(orders: Iterable[Order], question: Question) -> Iterator[tuple[Order, Line, str | None]]:
    for order in orders:
        if not question.currency or order.currency == question.currency:
            for line in order.lines:
                yield order, line, _group(question, order, line)


def _sent(orders: Iterable[Order], question: Question) -> Iterator[tuple[Any, str | None, Order, Line]]:
    for order, line, name in _lines(orders, question):
        if question.holds(order.sent):
            yield question.bucket(question.day(order.sent)), name, order, line


def _due(orders: Iterable[Order], question: Question) -> Iterator[tuple[Any, str | None, Line]]:
    days = set(question.days())
    for _, line, name in _lines(orders, question):
        if line.due in days and line.accepted:
            yield question.bucket(line.due), name, line


def _in_time(line: Line, question: Question) -> bool:
    whole = line.whole_at()
    return whole is not None and line.due is not None and question.day(whole) <= line.due


def _acceptances(orders: Iterable[Order], question: Question) -> Iterator[Row]:
    for order in orders:
        if (question.currency and order.currency != question.currency) or order.accepted is None:
            continue
        if question.holds(order.accepted):
            for name in {_group(question, order, line) for line in order.lines}:
                spent = (order.accepted - order.sent) / timedelta(milliseconds=1)
                yield question.bucket(question.day(order.accepted)), name, round(spent)


def _receipts(orders: Iterable[Order], question: Question) -> Iterator[tuple[Any, str | None, int, int]]:
    """Yield bucket, group, what was returned, what was accepted; a third of what came last went back."""
    for order in orders:
        for line in order.lines:
            for one in line.arrivals:
                if question.holds(one.at):
                    taken = one.units - one.rejected
                    yield question.bucket(question.day(one.at)), _group(question, order, line), taken // 3, taken


def rate(above: Any, below: Any) -> str | None:
    """Return a quotient with four places."""
    if not below:
        return None
    found = Decimal(above) / Decimal(below)
    return f"{found.quantize(Decimal('0.0001'), rounding=ROUND_HALF_UP):f}"


def _series(rows: Iterable[Row], made: Callable[[list[Any]], Any]) -> dict[tuple[Any, str | None], Any]:
    found: dict[tuple[Any, str | None], list[Any]] = {}
    for bucket, name, what in rows:
        found.setdefault((bucket, name), []).append(what)
    return {key: made(some) for key, some in found.items()}


def _ratio(some: list[tuple[Any, Any]]) -> str | None:
    return rate(sum(one for one, _ in some), sum(one for _, one in some))


def _of_sent(orders: list[Order], question: Question, what: Callable[[Order, Line], Any]) -> list[Row]:
    return [(bucket, name, what(order, line)) for bucket, name, order, line in _sent(orders, question)]


def _listed(orders: list[Order], question: Question) -> list[Row]:
    rows = _of_sent(orders, question, lambda _, line: (line.net, line.list_net))
    return [one for one in rows if one[2][1] is not None]


def _of_due(orders: list[Order], question: Question, what: Callable[[Line], Any]) -> list[Row]:
    return [(bucket, name, what(line)) for bucket, name, line in _due(orders, question)]


def _ids(some: list[UUID]) -> int:
    return len(set(some))


def _median(some: list[int]) -> str | None:
    return rate(Decimal(median(some)), 3_600_000)  # half a millisecond, of an even number of orders, is written exactly


Rows = Callable[[list[Order], Question], Iterable[Row]]
METRICS: dict[str, tuple[Rows, Callable[[list[Any]], Any]]] = {
    "orders_count": (lambda orders, asked: _of_sent(orders, asked, lambda order, _: order.id), _ids),
    "orders_value": (lambda orders, asked: _of_sent(orders, asked, lambda _, line: line.net), sum),
    "cancel_rate": (
        lambda orders, asked: _of_sent(orders, asked, lambda _, line: (line.cancelled, line.ordered)),
        _ratio,
    ),
    "price_vs_list": (_listed, _ratio),
    "fill_rate": (lambda orders, asked: _of_due(orders, asked, lambda line: (line.shipped, line.accepted)), _ratio),
    "on_time_in_full": (lambda orders, asked: _of_due(orders, asked, lambda line: (_in_time(line, asked), 1)), _ratio),
    "acceptance_hours": (_acceptances, _median),
    "return_rate": (
        lambda orders, asked: [(b, n, (back, taken)) for b, n, back, taken in _receipts(orders, asked)],
        _ratio,
    ),
}


def expected(metric: str, orders: list[Order], question: Question) -> dict[tuple[Any, str | None], Any]:
    """Return the values of a metric by bucket and group, without those in which nothing was."""
    rows, made = METRICS[metric]
    return _series(rows(orders, question), made)


def quarter(at: datetime) -> datetime:
    """Return the begin of the quarter of an hour."""
    at = at.astimezone(UTC)
    return at - timedelta(minutes=at.minute % 15, seconds=at.second, microseconds=at.microsecond)
