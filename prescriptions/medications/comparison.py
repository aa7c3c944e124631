"""Whether two medications are the same for substitution: by ingredients, strength and form."""

import re
from decimal import Decimal, InvalidOperation
from enum import StrEnum

from .knowledge import Medication

_SPACE = re.compile(r"\s+")


class Comparison(StrEnum):
    """What a comparison of two medications found."""

    SAME = "same"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


def compare(ordered: Medication | None, given: Medication | None) -> Comparison:
    """Compare two medications by what the tables say of them.

    What differs for certain is different, whatever else is unknown; the same are two of which ingredients, strength and
    form are known and equal.
    """
    if ordered is None or given is None or not ordered.ingredients or not given.ingredients:
        return Comparison.UNKNOWN
    if sorted(ordered.ingredients) != sorted(given.ingredients):
        return Comparison.DIFFERENT
    pairs = [(_strength(ordered), _strength(given)), (_plain(ordered.form), _plain(given.form))]
    if any(one and other and one != other for one, other in pairs):
        return Comparison.DIFFERENT
    return Comparison.SAME if all(one and other for one, other in pairs) else Comparison.UNKNOWN


def _strength(medication: Medication) -> object:
    """Return the strength of each ingredient and the unit in one spelling; empty if it is unknown.

    A strength such as `325/5` has a part for each ingredient, in their order.
    """
    parts = [_number(part) for part in medication.strength.split("/")] if medication.strength.strip() else []
    if len(parts) != len(medication.ingredients):
        return (medication.strength and _plain(medication.strength), _plain(medication.unit)) if parts else ""
    return sorted(zip(medication.ingredients, parts, strict=True)), _plain(medication.unit)


def _number(text: str) -> str:
    plain = _plain(text)
    try:
        return format(Decimal(plain).normalize(), "f")
    except InvalidOperation:
        return plain


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip().lower()
