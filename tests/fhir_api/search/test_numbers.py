"""Numbers of any digits, against the decimals that they are: a row holds the nearest float."""

from decimal import Decimal

from hypothesis import example, given
from hypothesis import strategies as st

from fhir_api.measures import as_float
from fhir_api.search.values.number import read_number

digits = st.integers(1, 10**25 - 1).map(str)
texts = st.builds(
    lambda sign, number, point, exponent: (
        f"{sign}{number[:point] or '0'}{'.' * (point < len(number))}{number[point:]}{exponent}"
    ),
    st.sampled_from(["", "-"]),
    digits,
    st.integers(0, 25),
    st.sampled_from(["", "e3", "e-7", "E+22", "e-30"]),
)


def is_within(number, value):
    """Whether `eq` finds a row; of `ne` the bounds are the same."""
    low, high = (float(bound) for bound, _ in number.test().values)
    return low <= as_float(value) < high


@given(texts)
@example("66.89999999999999")
@example("0.058154287164115435")
@example("1234567.1234567891")
@example("185.1234567890123456")
@example("9999999999999999999999999999999999999999")
def test_number_of_any_digits_finds_itself_and_ne_does_not_35(text):
    for prefix in ("", "eq", "ne"):
        assert is_within(read_number("value-quantity", prefix + text), Decimal(text))


@given(st.integers(-(10**9), 10**9), st.integers(-9, 9), st.integers(-20, 20))
def test_number_of_few_digits_finds_what_its_last_digit_covers_35(number, exponent, tenths):
    value, unit = Decimal(number).scaleb(exponent), Decimal(1).scaleb(exponent)
    read = read_number("value-quantity", f"{value:f}" if exponent <= 0 else str(number))
    if exponent > 0:
        value, unit = Decimal(number), Decimal(1)

    assert is_within(read, value + unit * tenths / 10) == (-5 <= tenths < 5)
