"""Cursors: what was sealed opens for its own list only, and for three days."""

import base64
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import crypto, cursors

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
TENANT = UUID("01890000-0000-7000-8000-000000000001")
BINDING: dict[str, Any] = {
    "tenant_id": TENANT,
    "path": "/v1/locations",
    "sort": "-created_at,-id",
    "filters_hash": cursors.digest_filters([("status", "active")]),
}
ROW = cursors.Position(("2026-02-01T00:00:00.123456Z", None), "01890000-0000-7000-8000-000000000002")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def sealed(position: cursors.Position = ROW, *, at: datetime = AT, **changed: Any) -> str:
    return cursors.seal(position, **(BINDING | changed), at=at)


def is_refused(text: str, *, at: datetime = AT, **changed: Any) -> bool:
    with pytest.raises(cursors.InvalidCursor) as caught:
        cursors.open(text, **(BINDING | changed), at=at)
    return caught.value.code == "invalid_cursor"


@given(values=st.lists(st.none() | TEXT, max_size=4), row_id=TEXT, direction=st.sampled_from(["next", "prev"]))
def test_open_own_cursor_returns_the_position(values: list[str | None], row_id: str, direction: Any) -> None:
    position = cursors.Position(tuple(values), row_id, direction)
    assert cursors.open(sealed(position), **BINDING, at=AT) == position


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_open_cursor_with_one_flipped_bit_is_refused(place: int, bit: int) -> None:
    text = sealed()
    raw = bytearray(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    raw[place % len(raw)] ^= 1 << bit
    assert is_refused(base64.urlsafe_b64encode(raw).rstrip(b"=").decode())


@given(place=st.integers(0, 10_000), character=st.characters())
def test_open_cursor_with_one_changed_character_is_refused(place: int, character: str) -> None:
    text = sealed()
    place %= len(text)
    changed = text[:place] + character + text[place + 1 :]
    assert changed == text or is_refused(changed)


@given(text=st.text(max_size=120))
def test_open_any_text_is_refused(text: str) -> None:
    assert is_refused(text)


@given(raw=st.binary(max_size=120))
def test_open_any_bytes_are_refused(raw: bytes) -> None:
    assert is_refused(base64.urlsafe_b64encode(b"\x01k1\x00" + raw).rstrip(b"=").decode())


@pytest.mark.parametrize("text", ["", "A" * 10_000, "!", "AQ", "AQ==", "p=abc", " ", "\0", "é", "\ud800"])
def test_open_garbage_is_refused(text: str) -> None:
    assert is_refused(text)


@pytest.mark.parametrize(
    "changed",
    [
        {"tenant_id": UUID("01890000-0000-7000-8000-000000000009")},
        {"tenant_id": None},
        {"path": "/v1/memberships"},
        {"path": "/v1/locations/"},
        {"sort": "created_at,id"},
        {"filters_hash": cursors.digest_filters([])},
    ],
)
def test_open_cursor_of_another_list_is_refused(changed: dict[str, Any]) -> None:
    assert is_refused(sealed(), **changed)


def test_open_parts_of_the_binding_cannot_run_into_each_other() -> None:
    assert is_refused(sealed(path="/v1/a", sort="bc"), path="/v1/ab", sort="c")


def test_open_padded_spelling_is_refused() -> None:
    text = sealed()
    assert is_refused(text + "=" * (-len(text) % 4 or 4))


def test_open_after_72_hours_is_refused() -> None:
    text = sealed()
    assert cursors.open(text, **BINDING, at=AT + timedelta(hours=72)) == ROW
    assert is_refused(text, at=AT + timedelta(hours=72, seconds=1))


def test_open_cursor_from_the_future_is_refused() -> None:
    assert is_refused(sealed(at=AT + timedelta(hours=1)))


def test_seal_hides_the_row_and_never_repeats_itself() -> None:
    first, second = sealed(), sealed()
    assert first != second
    assert b"2026-02-01" not in base64.urlsafe_b64decode(first + "=" * (-len(first) % 4))


def test_open_after_key_rotation_still_works_until_the_key_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = b"o" * 32, b"n" * 32
    monkeypatch.setattr(cursors, "key_ring", lambda: crypto.KeyRing({"old": old}))
    text = sealed()
    monkeypatch.setattr(cursors, "key_ring", lambda: crypto.KeyRing({"new": new, "old": old}))
    assert cursors.open(text, **BINDING, at=AT) == ROW
    monkeypatch.setattr(cursors, "key_ring", lambda: crypto.KeyRing({"new": new}))
    assert is_refused(text)


def test_digest_filters_order_does_not_matter_but_borders_do() -> None:
    assert cursors.digest_filters([("a", "1"), ("b", "2")]) == cursors.digest_filters([("b", "2"), ("a", "1")])
    assert cursors.digest_filters([("a", "1"), ("b", "2")]) != cursors.digest_filters([("a", '1","b","2')])
