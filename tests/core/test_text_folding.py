"""Text as it is compared in searches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text_folding import folded, without_accents, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Århus", "arhus"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ﬁlter", "filter"),
        ("Ibuprofén 400", "ibuprofen 400"),
    ],
)
def test_folded_has_neither_case_nor_accents(text, expected):
    assert folded(text) == expected


def test_words_are_letters_and_digits():
    assert words("Mask, FFP2 (20×) – blå_x") == ["mask", "ffp2", "20", "bla", "x"]


@given(st.text())
def test_plain_letters_are_folded_like_all_others(text):
    assert folded(text) == without_accents(text.casefold())
