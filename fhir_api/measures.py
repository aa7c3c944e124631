"""Dates, quantities, positions and composites, turned into entries.

Each function takes the entries, the number of the search parameter and one value of the data type it is named after.
Source: R4 search.html, sections on date, quantity, composite and special.
"""

import math
import sys
from itertools import repeat
from typing import Any

from . import dates, keys, references
from .entries import Entries
from .tokens import pairs

Value = dict[str, Any]


def moment(entries: Entries, number: int, value: str | None) -> None:
    """A date, dateTime or instant."""
    if value is not None:
        entries.parameters.add(number)
        entries.dates.add((keys.date_key(number), *dates.span(value)))


def period(entries: Entries, number: int, value: Value) -> None:
    """A Period."""
    _span(entries, number, dates.period(value))


def timing(entries: Entries, number: int, value: Value) -> None:
    """A Timing by its outer limits."""
    _span(entries, number, dates.timing(value))


def extension_date(entries: Entries, number: int, value: Value) -> None:
    """An extension whose value is a date, dateTime, instant or Period."""
    entries.parameters.add(number)
    for member in ("valueDateTime", "valueDate", "valueInstant"):
        moment(entries, number, value.get(member))
    if "valuePeriod" in value:
        period(entries, number, value["valuePeriod"])


def quantity(entries: Entries, number: int, value: Value) -> None:
    """A Quantity, also as Age, Count, Distance or Duration; its comparator is not looked at."""
    entries.parameters.add(number)
    if "value" in value:
        found = as_float(value["value"])
        names = keys.quantity_keys(number, value.get("system"), value.get("code"), value.get("unit"))
        entries.quantities.update(zip(names, repeat(found)))


def quantity_range(entries: Entries, number: int, value: Value) -> None:
    """A Range by its two ends."""
    entries.parameters.add(number)
    for end in ("low", "high"):
        if end in value:
            quantity(entries, number, value[end])


def sampled_data(entries: Entries, number: int, value: Value) -> None:
    """SampledData by the lowest and the highest sample, in the unit of the origin."""
    entries.parameters.add(number)
    samples = [as_float(text) for text in value.get("data", "").split() if text not in ("E", "U", "L")]
    origin = value["origin"]
    if samples and "value" in origin:
        start, factor = as_float(origin["value"]), as_float(value.get("factor", 1))
        for sample in (min(samples), max(samples)):
            quantity(entries, number, {**origin, "value": start + factor * sample})


def position(entries: Entries, number: int, value: Value) -> None:
    """A Location's place on the globe."""
    if "latitude" in value and "longitude" in value:
        entries.parameters.add(number)
        entries.positions.add((as_float(value["latitude"]), as_float(value["longitude"])))


def token_token(entries: Entries, number: int, first: Value, second: Value, *, systems: bool = False) -> None:
    """A composite of two CodeableConcepts."""
    seconds = pairs(second, systems=systems)
    for form in pairs(first, systems=systems):
        entries.parameters.add(number)
        entries.postings.update(keys.composite_key(number, form, other) for other in seconds)


def token_quantity(entries: Entries, number: int, first: Value, second: Value, *, systems: bool = False) -> None:
    """A composite of a CodeableConcept and a Quantity."""
    entries.parameters.add(number)
    if "value" in second:
        found = as_float(second["value"])
        unit = second.get("system"), second.get("code"), second.get("unit")
        entries.quantities.update(zip(keys.quantity_keys(number, *unit, pairs(first, systems=systems)), repeat(found)))


def token_boolean(entries: Entries, number: int, first: Value, second: bool, *, systems: bool = False) -> None:
    """A composite of a CodeableConcept and a boolean."""
    entries.parameters.add(number)
    form = keys.code_form("true" if second else "false")
    entries.postings.update(keys.composite_key(number, one, form) for one in pairs(first, systems=systems))


def token_reference(entries: Entries, number: int, first: Value, second: Value, *, systems: bool = False) -> None:
    """A composite of a code and a Reference to a resource of this server."""
    entries.parameters.add(number)
    if found := references.target(second.get("reference", "")):
        form = keys.target_form(*found)
        entries.postings.update(keys.composite_key(number, one, form) for one in pairs(first, systems=systems))


def token_string(entries: Entries, number: int, first: Value, second: str | None) -> None:
    """A composite of a CodeableConcept and a string."""
    if second is not None:
        entries.parameters.add(number)
        text = keys.normal(second)
        entries.strings.update((keys.string_key(number, form), text) for form in pairs(first))


def token_moment(entries: Entries, number: int, first: Value, second: str | None) -> None:
    """A composite of a CodeableConcept and a date or time."""
    if second is not None:
        _token_span(entries, number, first, dates.span(second))


def token_period(entries: Entries, number: int, first: Value, second: Value) -> None:
    """A composite of a CodeableConcept and a Period."""
    _token_span(entries, number, first, dates.period(second))


def as_float(value: Any) -> float:
    """A decimal as the index holds it; one too large for it is its largest."""
    try:
        found = float(value)
    except OverflowError:
        found = math.inf if value > 0 else -math.inf
    return math.copysign(sys.float_info.max, found) if math.isinf(found) else found


def _span(entries: Entries, number: int, span: dates.Span | None) -> None:
    entries.parameters.add(number)
    if span is not None:
        entries.dates.add((keys.date_key(number), *span))


def _token_span(entries: Entries, number: int, first: Value, span: dates.Span | None) -> None:
    entries.parameters.add(number)
    if span is not None:
        entries.dates.update((keys.date_key(number, form), *span) for form in pairs(first))
