"""Words and packaging plans: the parts of the catalog that need no database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.search_terms import LAST, LONGEST, words_of
from suppliers.catalog import packagings
from suppliers.catalog.models import Packaging
from suppliers.catalog.search_terms import words_of_product


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Nitril-Handschuhe, größe M!", ["nitril", "handschuhe", "grosse", "m"]),
        ("CAFÉ café", ["cafe"]),
        ("a_b c", ["a", "b", "c"]),
        ("注射器 10ml", ["注射器", "10ml"]),
        ("---", []),
        ("x" * 100, ["x" * LONGEST]),
    ],
)
def test_words_are_bare_and_once(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@given(st.text(max_size=300))
def test_words_hold_nothing_that_an_array_literal_would_trip_over(text: str) -> None:
    for word in words_of(text):
        assert 0 < len(word) <= LONGEST
        assert not set(word) & set('"\\{}, \0')
        assert word.encode() < (word[:1] + LAST).encode()


def test_a_long_name_does_not_crowd_out_sku_and_gtin() -> None:
    name = " ".join(f"word{number}" for number in range(200))

    words = words_of_product(name=name, supplier_sku="SKU-1", brand="Brand", gtins=["04006381333931"])

    assert words[:5] == ["sku", "1", "04006381333931", "4006381333931", "brand"]
    assert len(words) == 80


def _present(**values: object) -> Packaging:
    row = {"level": "each", "units_per_pack": 1, "position": 0, "gtin": None, "name": ""}
    return Packaging(**{**row, **values})


def _wanted(**values: object) -> dict[str, object]:
    row: dict[str, object] = {
        "level": "each", "name": "", "units_per_pack": 1, "gtin": None, "orderable": True, "min_order_quantity": 1,
        "order_increment": 1, "max_order_quantity": None, "gross_weight_g": None, "length_mm": None, "width_mm": None,
        "height_mm": None,
    }  # fmt: skip
    return row | values


def test_a_gtin_decides_before_level_and_ratio() -> None:
    one, two = _present(gtin="04006381333931"), _present(level="case", units_per_pack=9, position=1)

    plan = packagings.match([one, two], [_wanted(level="case", units_per_pack=9), _wanted(gtin="04006381333931")])

    assert [(change.packaging, change.columns) for change in plan.changes] == [
        (two, ("position",)),
        (one, ("position",)),
    ]
    assert plan.added == plan.removed == ()


def test_the_same_rows_are_no_change() -> None:
    plan = packagings.match([_present()], [_wanted()])

    assert not plan.differ


def test_a_new_ratio_without_id_is_another_packaging() -> None:
    old = _present()

    plan = packagings.match([old], [_wanted(units_per_pack=2)])

    assert (len(plan.added), plan.removed, plan.changed) == (1, (old,), set())
