"""Numbers with as many digits as were meant. Source: R4 search.html#number."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal

from fhir_api.search.conditions import Test
from fhir_api.search.refusals import wrong_value

from .prefixes import prefixed

_NUMBER = re.compile(r"[+-]?\d{1,40}(\.\d{1,40})?([eE][+-]?\d{1,2})?", re.ASCII)
_TESTS = {
    "eq": "{row}.value >= {} AND {row}.value < {}",
    "ne": "({row}.value < {} OR {row}.value >= {})",
    "gt": "{row}.value > {}",
    "sa": "{row}.value > {}",
    "lt": "{row}.value < {}",
    "eb": "{row}.value < {}",
    "ge": "{row}.value >= {}",
    "le": "{row}.value <= {}",
    "ap": "{row}.value >= {} AND {row}.value <= {}",
}


@dataclass(frozen=True, slots=True)
class Number:
    """A value as written and the half of its last digit's unit."""

    prefix: str
    value: Decimal
    half: Decimal

    def test(self) -> Test:
        """The test of a row's `value`; `gt lt ge le sa eb` compare exactly, `ap` allows a tenth."""
        return Test(_TESTS[self.prefix], tuple((repr(bound), "float8") for bound in self._bounds()))

    def _bounds(self) -> tuple[float, ...]:
        """Where digits are finer than a row's number, the bounds meet at it, and it must stay between them."""
        value = float(self.value)
        if self.prefix in ("eq", "ne"):
            low, high = float(self.value - self.half), float(self.value + self.half)
            return min(low, value), max(high, math.nextafter(value, math.inf))
        if self.prefix == "ap":
            tenth = abs(self.value) / 10
            return float(self.value - tenth), float(self.value + tenth)
        return (value,)


def read_number(name: str, text: str) -> Number:
    """A number with its prefix.

    :raises InvalidSearch: not a decimal number.
    """
    prefix, digits = prefixed(text)
    if not _NUMBER.fullmatch(digits):
        raise wrong_value(name, "a decimal number, with a prefix where wanted")
    value = Decimal(digits)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # the pattern allows neither NaN nor infinity
    # The standard reads 1e2 as [95, 105): the unit of the digit that follows those written.
    half = Decimal(1).scaleb(exponent) / (20 if exponent > 0 else 2)
    return Number(prefix, value, half)
