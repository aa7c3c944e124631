"""Array literals: PostgreSQL reads back what was written."""

from datetime import UTC, date, datetime, timedelta, timezone
from uuid import UUID

from django.db import connections
from hypothesis import given
from hypothesis import strategies as st

from core import arrays

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


def read(literal, kind):
    with connections["platform"].cursor() as cursor:
        cursor.execute(f"SELECT %s::{kind}[]", [literal])
        return cursor.fetchone()[0]


@given(st.lists(st.none() | TEXT))
def test_texts_read_back(values):
    assert read(arrays.array_literal(values), "text") == values


def test_texts_that_mean_something_in_an_array_read_back():
    values = ["", "NULL", None, "a,b", "{c}", 'd"e', "f\\g", " h "]
    assert read(arrays.array_literal(values), "text") == values


def test_ids_read_back():
    values = [UUID(int=1), UUID(int=2)]
    assert read(arrays.array_literal(values), "uuid") == values


OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
INSTANTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=OFFSETS)


@given(st.lists(INSTANTS))
def test_instants_read_back(values):
    assert read(arrays.moments(values), "timestamptz") == values


@given(st.lists(st.dates()))
def test_days_read_back(values):
    assert read(arrays.moments(values), "date") == values


def test_instants_of_an_array_may_have_several_offsets():
    noon = datetime(2026, 3, 29, 12, tzinfo=UTC)
    values = [noon.astimezone(timezone(timedelta(hours=hours))) for hours in (-3, 0, 11)]
    assert read(arrays.moments(values), "timestamptz") == [noon] * 3
    assert read(arrays.moments([date(2026, 3, 29), noon]), "timestamptz")[1] == noon


@given(st.lists(st.floats(allow_nan=False)))
def test_floats_read_back_the_same(values):
    assert read(arrays.numbers(values), "float8") == values


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), TEXT)))
def test_columns_read_back(rows):
    numbers, texts = arrays.columns(rows, 2)
    assert read(numbers, "bigint") == [number for number, _ in rows]
    assert read(texts, "text") == [text for _, text in rows]


def test_numbers_are_repeated_as_often_as_said():
    assert read(arrays.repeated([(7, 2), (8, 0), (9, 1)]), "bigint") == [7, 7, 9]
