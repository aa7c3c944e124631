"""Figures laid out as small charts: plain SVG and bars that the template draws, each with the same as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from django.http import HttpRequest
from django.template.response import TemplateResponse

from core.clock import now
from organizations.staff.bars import FOOT, HEIGHT, WIDTH, Part, stacked
from prescriptions.states import Status

from .figures import Counted, Figures, Lag, Made, Overridden, read_figures
from .looks import chosen_tenant, note_look
from .timelines import words

_COLOURS: Final = {
    Status.DRAFT.value: "#94a3b8",
    Status.CLINICALLY_VALIDATED.value: "#8b5cf6",
    Status.SIGNED.value: "#0ea5e9",
    Status.ROUTED.value: "#f59e0b",
    Status.DISPENSED.value: "#16a34a",
    Status.CANCELLED.value: "#ef4444",
}


@dataclass(frozen=True, slots=True)
class Day:
    """One day: where it stands, its parts from the bottom up, and what a pointer on it tells."""

    day: date
    x: float
    width: float
    parts: tuple[Part, ...]
    told: str
    label: str


def show(request: HttpRequest, context: dict[str, Any]) -> TemplateResponse:
    """Answer the page. No patient is on it, and still the look is recorded."""
    chosen = chosen_tenant(request)
    found = read_figures(chosen.tenant_id, now())
    note_look(request, [], count=sum(one.number for one in found.made), parameters=["charts"])
    context |= {
        "title": "Prescriptions of the last 90 days",
        "days": days_of(found),
        "legend": [(words(status), colour) for status, colour in _COLOURS.items()],
        "table": _table(found.made),
        "most": _most(found.made),
        "width": WIDTH,
        "height": HEIGHT + FOOT,
        "floor": HEIGHT,
        "label_y": HEIGHT + FOOT - 4,
        "lags": [_lag(one) for one in found.lags],
        "rules": [_rule(one) for one in found.overridden],
        "not_dispensed": _bars(found.not_dispensed),
        "taken_back": _bars(found.reversed),
        "reversals": sum(one.number for one in found.reversed),
        "dispensations": found.dispensations,
    }
    return TemplateResponse(request, "prescriptions/charts.html", context)


def days_of(found: Figures) -> list[Day]:
    """Lay out the days from the first one to the last, also those on which nothing was made."""
    by_day = _by_day(found.made)
    last = max([found.since + timedelta(days=90), *(date.fromisoformat(day) for day in by_day)])
    number = (last - found.since).days + 1
    step, most = WIDTH / number, _most(found.made)
    every = [found.since + timedelta(days=place) for place in range(number)]
    return [_day(day, place, step, most, by_day.get(day.isoformat(), {})) for place, day in enumerate(every)]


def _day(day: date, place: int, step: float, most: int, counts: dict[str, int]) -> Day:
    parts = stacked((counts.get(status, 0) / most, colour) for status, colour in _COLOURS.items())
    told = ", ".join(f"{counts[status]} {words(status)}" for status in _COLOURS if counts.get(status)) or "none"
    label = f"{day:%m-%d}" if place % 14 == 0 else ""
    return Day(day, round(place * step + 0.5, 1), round(step - 1, 1), parts, told, label)


def _most(made: Sequence[Made]) -> int:
    return max((sum(counts.values()) for counts in _by_day(made).values()), default=1)


def _table(made: Sequence[Made]) -> list[tuple[str, list[int]]]:
    return [(day, [counts.get(status, 0) for status in _COLOURS]) for day, counts in sorted(_by_day(made).items())]


def _by_day(made: Sequence[Made]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for one in made:
        found.setdefault(one.day, {})[one.status] = one.number
    return found


def _lag(one: Lag) -> dict[str, Any]:
    return {"stretch": one.stretch, "number": one.number, "half": _span(one.half), "tenth": _span(one.tenth)}


def _span(seconds: float | None) -> str:
    """Write a length of time in its two largest units."""
    if seconds is None:
        return "–"
    rest, found = round(seconds), []
    for name, length in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        amount, rest = divmod(rest, length)
        if amount:
            found.append(f"{amount} {name}")
    return " ".join(found[:2]) or "0 s"


def _rule(one: Overridden) -> dict[str, Any]:
    percent = 100 * one.overridden // one.raised
    return {"word": one.code, "told": f"{one.overridden} of {one.raised}, {percent} %", "percent": percent}


def _bars(counted: Sequence[Counted]) -> list[dict[str, Any]]:
    most = max((one.number for one in counted), default=1)
    return [{"word": words(one.word), "number": one.number, "percent": 100 * one.number // most} for one in counted]
