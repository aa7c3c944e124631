"""The JSON reader against hostile bodies."""

import contextlib
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api import body
from core.errors import Malformed, PlatformError

CODES = {
    "invalid_json",
    "duplicate_key",
    "nul_character",
    "lone_surrogate",
    "nesting_too_deep",
    "number_out_of_range",
    "not_an_object",
}
KEEPS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20) + 1, 10**20 - 1) | KEEPS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEEPS, inner, max_size=5),
    max_leaves=30,
)


def code_of(raw: bytes, **bounds: int) -> str:
    with pytest.raises(PlatformError) as caught:
        body.parse_object(raw, **bounds)
    return caught.value.code


def nested(depth: int, *, opening: str = "[", closing: str = "]") -> bytes:
    return b'{"a":' + (opening * (depth - 1) + closing * (depth - 1)).encode() + b"}"


@given(value=st.dictionaries(KEEPS, VALUES, max_size=6), ascii_only=st.booleans())
def test_parse_object_any_well_formed_object_is_read_whole(value: dict[str, Any], ascii_only: bool) -> None:
    assert body.parse_object(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(raw=st.binary(max_size=200))
def test_parse_object_any_bytes_are_read_or_refused_by_name(raw: bytes) -> None:
    code = ""
    try:
        found = body.parse_object(raw)
    except Malformed as refusal:
        code = refusal.code
    assert code in CODES if code else isinstance(found, dict)


@given(text=st.text(st.sampled_from('{}[]":,\\u0d8e1.-+NaIn tfrusl'), max_size=60))
def test_parse_object_json_like_noise_never_escapes_the_refusals(text: str) -> None:
    with contextlib.suppress(Malformed):
        body.parse_object(text.encode())


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "invalid_json"),
        (b"{", "invalid_json"),
        (b"{'a':1}", "invalid_json"),
        (b'{"a":1}{"b":2}', "invalid_json"),
        (b'{"a":1,}', "invalid_json"),
        (b'{"a":01}', "invalid_json"),
        (b'{"a":+1}', "invalid_json"),
        (b'{"a":.5}', "invalid_json"),
        (b'{"a":0x10}', "invalid_json"),
        (b'{"a":"\x01"}', "invalid_json"),
        (b'{"a":"\x00"}', "invalid_json"),
        (b'{"a":\xa01}', "invalid_json"),
        (b'\xef\xbb\xbf{"a":1}', "invalid_json"),
        ('{"a":1}'.encode("utf-16"), "invalid_json"),
        (b'{"a":"\xff"}', "invalid_json"),
        (b'{"a":"\xed\xa0\x80"}', "invalid_json"),
        (b'{"a":"\xc0\x80"}', "invalid_json"),
        (b'{"a":NaN}', "invalid_json"),
        (b'{"a":Infinity}', "invalid_json"),
        (b'{"a":-Infinity}', "invalid_json"),
        (b'{"a":1,"a":2}', "duplicate_key"),
        (b'{"a":1,"\\u0061":2}', "duplicate_key"),
        (b'{"x":[{"b":{"a":1,"a":1}}]}', "duplicate_key"),
        (b'{"a":"\\u0000"}', "nul_character"),
        (b'{"\\u0000":1}', "nul_character"),
        (b'{"a":[{"b":"x\\u0000y"}]}', "nul_character"),
        (b'{"a":"\\ud800"}', "lone_surrogate"),
        (b'{"a":"\\uDFFF"}', "lone_surrogate"),
        (b'{"a":"\\udc00\\ud800"}', "lone_surrogate"),
        (b'{"\\ud83d":1}', "lone_surrogate"),
        (b'{"a":1e999}', "number_out_of_range"),
        (b'{"a":-1e999}', "number_out_of_range"),
        (b'{"a":1e-999}', "number_out_of_range"),
        (b'{"a":0e999}', "number_out_of_range"),
        (b'{"a":1e99999999999999999999}', "number_out_of_range"),
        (b'{"a":' + b"1" * 21 + b"}", "number_out_of_range"),
        (b'{"a":-' + b"1" * 21 + b"}", "number_out_of_range"),
        (b'{"a":' + b"1" * 5_000 + b"}", "number_out_of_range"),
        (b'{"a":0.' + b"1" * 100 + b"}", "number_out_of_range"),
        (b"[]", "not_an_object"),
        (b'"a"', "not_an_object"),
        (b"null", "not_an_object"),
        (nested(65), "nesting_too_deep"),
        (nested(65, opening='{"b":', closing="}"), "nesting_too_deep"),
        (nested(64, opening='{"b":', closing="}"), "invalid_json"),
        (b"[" * 100_000, "nesting_too_deep"),
        (b'{"a":' * 100_000, "nesting_too_deep"),
        (b'{"quote":"\\"","a":' + b"[" * 70, "nesting_too_deep"),
    ],
)
def test_parse_object_hostile_body_is_refused_with_its_code(raw: bytes, code: str) -> None:
    assert code_of(raw) == code


def test_parse_object_allowed_depth_is_read() -> None:
    assert body.parse_object(nested(64))["a"]


def test_parse_object_brackets_inside_text_are_no_depth() -> None:
    raw = json.dumps({"a": '[{"' * 500, "b\\": "[" * 500, '"': "\\" * 7 + "{" * 500}).encode()
    assert body.parse_object(raw) == json.loads(raw)


def test_parse_object_escaped_backslash_before_u0000_is_text() -> None:
    assert body.parse_object(rb'{"a":"\\u0000 \\ud800"}') == {"a": r"\u0000 \ud800"}


def test_parse_object_surrogate_pair_is_one_character() -> None:
    assert body.parse_object(rb'{"a":"\ud83d\ude00"}') == {"a": "😀"}


def test_parse_object_decimal_keeps_its_digits() -> None:
    found = body.parse_object(b'{"a":1.10,"b":0.1e1,"c":12345678901234567890}')
    assert (str(found["a"]), found["b"], found["c"]) == ("1.10", Decimal(1), 12345678901234567890)


def test_parse_object_nought_keeps_its_sign() -> None:
    assert repr(body.parse_object(b'{"a": -0, "b": 0}')) == "{'a': Decimal('-0'), 'b': 0}"


def test_parse_object_body_over_the_limit_is_413() -> None:
    raw = json.dumps({"a": "x" * 100}).encode()
    assert body.parse_object(raw, limit_bytes=len(raw))
    assert code_of(raw, limit_bytes=len(raw) - 1) == "body_too_large"


def test_parse_object_refusal_does_not_repeat_values() -> None:
    with pytest.raises(body.InvalidJson) as caught:
        body.parse_object(b'{"name":"Jane Roe" "x"}')
    assert "Jane" not in caught.value.detail


def test_parse_list_at_the_top_is_read() -> None:
    assert body.parse(b'[{"op":"add"}]') == [{"op": "add"}]


@pytest.mark.parametrize(("text", "code"), [("a\0b", "nul_character"), ("\ud800", "lone_surrogate")])
def test_check_text_unstorable_text_is_refused(text: str, code: str) -> None:
    with pytest.raises(Malformed) as caught:
        body.check_text(text)
    assert caught.value.code == code


@given(text=KEEPS)
def test_check_text_other_text_passes_unchanged(text: str) -> None:
    assert body.check_text(text) == text
