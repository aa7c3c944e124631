"""A delivery told step by step: the event, every attempt with what it met and how long each part took, what comes next."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from webhooks import states
from webhooks.models import Attempt, Delivery

from . import wording

MOST_ATTEMPTS = 100
LATE: Final = timedelta(hours=1)  # a worker that lost its lease may note its attempt after the delivery ended
_PARTS = (
    ("dns_ms", "look-up", "#8b5cf6"),
    ("connect_ms", "connect", "#0ea5e9"),
    ("tls_ms", "TLS", "#f59e0b"),
    ("ttfb_ms", "first byte", "#10b981"),
)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of an attempt's time; `percent` is its share of the whole."""

    name: str
    milliseconds: int
    percent: float
    colour: str


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the timeline."""

    at: datetime | None
    title: str
    why: str
    tone: str
    waited: str = ""
    attempt: Attempt | None = None
    parts: Sequence[Part] = field(default_factory=tuple)


def read_attempts(delivery: Delivery) -> list[Attempt]:
    """Read a delivery's attempts, from the ranges of time in which they can lie and no others."""
    rows = Attempt.objects.filter(
        tenant_id=delivery.tenant_id, delivery_id=delivery.id, created_at__gte=delivery.created_at
    )
    if delivery.done_at is not None:
        rows = rows.filter(created_at__lte=delivery.done_at + LATE)
    return list(rows.order_by("created_at", "id")[:MOST_ATTEMPTS])


def steps(delivery: Delivery, attempts: Sequence[Attempt], *, at: datetime) -> list[Step]:
    """Tell a delivery from its event to where it stands."""
    found = [Step(delivery.created_at, "Event happened", delivery.event_type, "neutral")]
    before = delivery.created_at
    for number, attempt in enumerate(attempts):
        found.append(_step(attempt, before, is_first=number == 0))
        before = attempt.created_at
    return [*found, *_end(delivery, at)]


def _step(attempt: Attempt, before: datetime, *, is_first: bool) -> Step:
    accepted = attempt.status is not None and 200 <= attempt.status < 300
    return Step(
        at=attempt.created_at,
        title=f"Attempt {attempt.number}: {wording.answer_words(attempt)}",
        why=wording.trigger_words(attempt, is_first=is_first),
        tone="good" if accepted else "bad",
        waited=wording.span_words(attempt.created_at - before),
        attempt=attempt,
        parts=_parts(attempt.timings, attempt.duration_ms),
    )


def _parts(timings: dict[str, Any], duration_ms: int) -> list[Part]:
    known = [(name, int(timings[key]), colour) for key, name, colour in _PARTS if timings.get(key) is not None]
    rest = duration_ms - sum(milliseconds for _, milliseconds, _ in known)
    if known and rest > 0:
        known.append(("rest", rest, "#94a3b8"))
    total = sum(milliseconds for _, milliseconds, _ in known) or 1
    return [Part(name, milliseconds, 100 * milliseconds / total, colour) for name, milliseconds, colour in known]


def _end(delivery: Delivery, at: datetime) -> list[Step]:
    if delivery.state == states.DELIVERED:
        return [Step(delivery.done_at, "Delivered", "the receiver has it", "good")]
    if delivery.state == states.FAILED:
        why = wording.error_words(delivery.last_error) if delivery.last_error else "no attempt is left"
        return [Step(delivery.done_at, "Given up", why, "bad")]
    if delivery.next_attempt_at is None:
        return []
    return [Step(delivery.next_attempt_at, "Next attempt", wording.when_words(delivery.next_attempt_at, at), "waiting")]
