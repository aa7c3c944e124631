"""Dates as spans of time: what is written to the day means the whole day. Source: R4 search.html#date."""

import re
from datetime import UTC, datetime
from typing import Final

from fhir_api.dates import Span, span
from fhir_api.entries import OPEN_HIGH, OPEN_LOW
from fhir_api.keys import date_key
from fhir_api.search.conditions import DATES, Condition, Listed, Own, Test
from fhir_api.search.parse import Leaf, plain
from fhir_api.search.refusals import unsupported_modifier, wrong_value

from .context import Context
from .prefixes import prefixed

_SPACED_ZONE: Final = re.compile(r" (?=\d\d:\d\d$)")  # a + that was not escaped in the query string
_BOUND: Final = re.compile(r"\{([01])\}")
_FORM: Final = "a date or time, YYYY[-MM[-DD[Thh:mm[:ss[.fff]][zone]]]], with a prefix where wanted"

# What is asked of a row's span [low, high) by the searched span [{0}, {1}).
_TESTS = {
    "eq": "{row}.low >= {0} AND {row}.low < {1} AND {row}.high <= {1}",  # the second follows; it tells the planner how few
    "ne": "({row}.low < {0} OR {row}.high > {1})",
    "gt": "{row}.high > {1}",
    "lt": "{row}.low < {0}",
    "ge": "({row}.low >= {0} OR {row}.high > {1})",
    "le": "({row}.low < {0} OR {row}.high <= {1})",
    "sa": "{row}.low >= {1}",
    "eb": "{row}.high <= {0}",
    "ap": "{row}.low < {1} AND {row}.high > {0}",
}
# The same of an instant, which lasts a millisecond and never lies across a bound of a searched span.
_INSTANTS = {
    "eq": "{row}.last_updated >= {0} AND {row}.last_updated < {1}",
    "ne": "({row}.last_updated < {0} OR {row}.last_updated >= {1})",
    "gt": "{row}.last_updated >= {1}",
    "lt": "{row}.last_updated < {0}",
    "ge": "{row}.last_updated >= {0}",
    "le": "{row}.last_updated < {1}",
    "sa": "{row}.last_updated >= {1}",
    "eb": "{row}.last_updated < {0}",
    "ap": "{row}.last_updated >= {0} AND {row}.last_updated < {1}",
}


def condition(leaf: Leaf, context: Context) -> Condition:
    """The condition of a date parameter; `_lastUpdated` is asked of the resource's own row."""
    if leaf.modifier:
        raise unsupported_modifier(leaf.parameter.code, leaf.modifier)
    if leaf.parameter.is_column:
        tests = [_test(_INSTANTS, leaf, value, context) for value in leaf.values]
        sql = " OR ".join(f"({test.sql})" for test in tests)
        values = tuple(value for test in tests for value in test.values)
        if context.until is None:
            return Own(Test(sql, values))
        return Own(
            Test(f"({sql}) AND {{row}}.last_updated < {{}}", (*values, (context.until.isoformat(), "timestamptz")))
        )
    key = date_key(leaf.parameter.number)
    return Listed(DATES, tuple((key, span_test(leaf, value, context)) for value in leaf.values))


def span_test(leaf: Leaf, value: str, context: Context) -> Test:
    """The test that one value asks of a span of time."""
    return _test(_TESTS, leaf, value, context)


def _test(tests: dict[str, str], leaf: Leaf, value: str, context: Context) -> Test:
    prefix, text = prefixed(plain(value))
    try:
        found = span(_SPACED_ZONE.sub("+", text))
    except ValueError:
        raise wrong_value(leaf.parameter.code, _FORM) from None
    return _with_values(tests[prefix], _widened(found, context.at) if prefix == "ap" else found)


def _with_values(sql: str, found: Span) -> Test:
    """Put the span's bounds in the order in which the SQL names them."""
    values = tuple((found[int(mark)], "timestamptz") for mark in _BOUND.findall(sql))
    return Test(_BOUND.sub("{}", sql), values)


def _widened(found: Span, at: datetime) -> Span:
    """A span with a tenth of its distance from now on both sides. Source: R4 search.html#prefix, `ap`."""
    low, high = (
        datetime.fromisoformat(text) if text != OPEN_HIGH else datetime.max.replace(tzinfo=UTC) for text in found
    )
    gap = max(abs(low - at), abs(high - at)) / 10
    try:
        lower = (low - gap).isoformat()
    except OverflowError:
        lower = OPEN_LOW
    try:
        return lower, (high + gap).isoformat()
    except OverflowError:
        return lower, OPEN_HIGH
