"""Numbers with as many digits as were meant. Source: R4 search.html#number."""

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
        if self.prefix in ("eq", "ne"):
            bounds = [self.value - self.half, self.value + self.half]
        elif self.prefix == "ap":
            tenth = abs(self.value) / 10
            bounds = [self.value - tenth, self.value + tenth]
        else:
            bounds = [self.value]
        return Test(_TESTS[self.prefix], tuple((repr(float(bound)), "float8") for bound in bounds))


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
