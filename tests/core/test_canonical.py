"""Canonical JSON: the examples of RFC 8785, and documents whose values have one form."""

import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from core.canonical import canonical_document, canonical_json, sha256_hex


def test_the_examples_of_rfc_8785():
    value = json.loads(
        r"""{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
             "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"""
    )
    wanted = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical_json(value) == wanted.encode()
    keys = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    assert [*json.loads(canonical_json(keys)).values()] == [2, 4, 6, 7, 1, 5, 3]  # by UTF-16 code units


def test_a_document_has_the_forms_of_the_contract():
    value = {
        "b": Decimal("1.50"),
        "a": datetime(2026, 3, 1, 12, 30, 15, 123999, tzinfo=timezone(timedelta(hours=2))),
        "none": None,
        "day": date(2028, 2, 29),
        "id": UUID("0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"),
        "lines": [{"n": 2, "gone": None}, {"n": 1}],
        "name": "Zoe\u0308",
        "yes": True,
        "deep": {"gone": None},
    }
    assert (
        canonical_document(value)
        == (
            '{"a":"2026-03-01T10:30:15.123Z","b":"1.5","day":"2028-02-29","deep":{},'
            '"id":"0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f","lines":[{"n":2},{"n":1}],"name":"Zoë","yes":true}'
        ).encode()
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1.50", "1.5"),
        ("1E+2", "100"),
        ("100", "100"),
        ("0.000", "0"),
        ("-0.0", "0"),
        ("1E-7", "0.0000001"),
        ("-5.10", "-5.1"),
    ],
)
def test_one_decimal_has_one_form(value, text):
    assert canonical_document({"v": Decimal(value)}) == f'{{"v":"{text}"}}'.encode()


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        float("nan"),
        Decimal("NaN"),
        Decimal("Infinity"),
        datetime(2026, 1, 1),
        2**53,
        -(2**53),
        "\ud800",
        b"bytes",
        {1, 2},
        [None],
        {1: "a"},
        {"\u00e9": 1, "e\u0301": 2},
    ],
)
def test_what_has_no_single_form_is_refused(value):
    with pytest.raises(ValueError, match=r"."):
        canonical_document({"v": value})


plain = st.recursive(
    st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcé", max_size=4), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text("xyzß", max_size=4), plain, max_size=6))
def test_the_form_is_stable(value):
    text = canonical_document(value)

    assert canonical_document(json.loads(text)) == text
    assert canonical_document(dict(reversed(value.items()))) == text


@given(st.decimals(allow_nan=False, allow_infinity=False), st.integers(0, 5))
def test_closing_zeros_say_nothing(value, zeros):
    assert Decimal(json.loads(canonical_document({"v": value}))["v"]) == value
    longer = Decimal(format(value, "f") + ("" if "." in format(value, "f") else ".") + "0" * zeros)
    assert canonical_document({"v": longer}) == canonical_document({"v": value})


def test_digests_are_lower_case_hexadecimal():
    assert sha256_hex(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53) + 1, 2**53 - 1)
        | st.text()
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_both_writers_agree(value):
    """Whichever writer is chosen, the bytes are those of the package that follows RFC 8785 to the letter."""
    assert canonical_json(value) == rfc8785.dumps(value)


def test_lone_surrogate_has_no_canonical_form():
    with pytest.raises(ValueError, match=r"surrogate|codepoints"):
        canonical_json(["\ud800"])
