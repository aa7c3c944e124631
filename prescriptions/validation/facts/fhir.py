"""Reading FHIR R4 resources as rules need them: codes, standing, the newest observation."""

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from prescriptions.validation.codes import Code
from prescriptions.validation.inputs import Json

_COUNTING_OBSERVATIONS: Final = frozenset({"final", "amended", "corrected", "preliminary"})
_PARTIAL_DATE: Final = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_NOTHING: Final[Mapping[str, Any]] = {}


def codings(concept: Json | None) -> tuple[Code, ...]:
    """Return the (system, code) pairs of a CodeableConcept, those without a code left out."""
    return tuple(
        (one.get("system", ""), one["code"]) for one in (concept or _NOTHING).get("coding", ()) if one.get("code")
    )


def has_code(concept: Json | None, wanted: AbstractSet[Code]) -> bool:
    """Whether a CodeableConcept holds one of these codes."""
    return any((one.get("system"), one.get("code")) in wanted for one in (concept or _NOTHING).get("coding", ()))


def text_of(concept: Json | None) -> str:
    """Return how a CodeableConcept is called: its text, else the first display."""
    told = concept or _NOTHING
    return told.get("text") or next((one["display"] for one in told.get("coding", ()) if one.get("display")), "")


def is_standing(resource: Json) -> bool:
    """Whether an allergy or condition counts. Source: contract, prescriptions.md, "Allergies"."""
    verification = {code for _, code in codings(resource.get("verificationStatus"))}
    clinical = {code for _, code in codings(resource.get("clinicalStatus"))}
    return not (verification & {"refuted", "entered-in-error"} or clinical & {"inactive", "resolved"})


def is_present(condition: Json) -> bool:
    """Whether a Condition stands and is neither in remission nor abated."""
    clinical = {code for _, code in codings(condition.get("clinicalStatus"))}
    has_abated = any(name.startswith("abatement") for name in condition)
    return is_standing(condition) and not has_abated and "remission" not in clinical


def by_code(observations: Iterable[Json], wanted: AbstractSet[Code]) -> dict[Code, list[Json]]:
    """Return those of the observations that count, by each of the wanted codes that they have."""
    found: dict[Code, list[Json]] = {}
    for one in observations:
        for coding in (one.get("code") or _NOTHING).get("coding", ()):
            code = (coding.get("system"), coding.get("code"))
            if code in wanted and one.get("status") in _COUNTING_OBSERVATIONS:
                found.setdefault(code, []).append(one)
    return found


def newest(observations: Mapping[Code, Sequence[Json]], wanted: Iterable[Code]) -> list[Json]:
    """Return the observations with one of these codes, the newest first; ties are broken by id."""
    found = {id(one): one for code in wanted for one in observations.get(code, ())}
    return sorted(found.values(), key=lambda one: (_effective(one), str(one.get("id", ""))), reverse=True)


def decimal(value: Any) -> Decimal:
    """Return a number of JSON as Decimal with the digits it was written with."""
    return value if isinstance(value, Decimal) else Decimal(str(value))


def first_day(text: str) -> date | None:
    """Return the first day that a date or dateTime, perhaps partial, stands for; None where it is none."""
    match = _PARTIAL_DATE.match(text)
    return _day(match[1], match[2] or "1", match[3] or "1") if match else None


def last_day(text: str) -> date | None:
    """Return the last day that a date or dateTime, perhaps partial, stands for; None where it is none."""
    first, match = first_day(text), _PARTIAL_DATE.match(text)
    if first is None or match is None or match[3]:
        return first
    month = first.month if match[2] else 12
    return first.replace(month=month, day=monthrange(first.year, month)[1])


def covers(period: Json | None, day: date) -> bool:
    """Whether a Period, open where it names no bound, holds a day; a bound that cannot be read holds none."""
    told = period or _NOTHING
    start = first_day(told["start"]) if told.get("start") else date.min
    end = last_day(told["end"]) if told.get("end") else date.max
    return start is not None and end is not None and start <= day <= end


def referred(resource: Json, reference: Json | None, others: Sequence[Json]) -> Json | None:
    """Return the resource that a reference names among the contained ones and `others`, None if it is not there."""
    name = (reference or _NOTHING).get("reference", "")
    if name.startswith("#"):
        return next((one for one in resource.get("contained", ()) if f"#{one.get('id')}" == name), None)
    return next((one for one in others if f"{one.get('resourceType')}/{one.get('id')}" == name), None)


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _effective(observation: Json) -> datetime:
    """When it was true: its effective instant or the end of its period, else when it was issued."""
    period = observation.get("effectivePeriod") or _NOTHING
    text = (
        observation.get("effectiveDateTime")
        or observation.get("effectiveInstant")
        or period.get("end")
        or period.get("start")
        or observation.get("issued")
        or ""
    )
    try:
        told = datetime.fromisoformat(text)
    except ValueError:
        day = first_day(text)
        told = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else _LONG_AGO
    return told if told.tzinfo else told.replace(tzinfo=UTC)
