"""What a spreadsheet would compute: neutral in CSV and XLSX, unchanged in JSON."""

import pytest

from suppliers.analytics.reports.writing import neutral
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.analytics.reports.asking import asked, carry_out, cells, content, got

NAMES = ('=HYPERLINK("http://x.example","a")', "+1+1", "-2+3", "@SUM(A1:A9)", 'Gloves = good, "M"', "https://x.example")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_text_that_begins_like_a_formula_has_an_apostrophe(start: str) -> None:
    assert neutral(f"{start}1") == f"'{start}1"
    assert neutral(f"a{start}1") == f"a{start}1"
    assert neutral("") == ""


def _stocked(trade: Trade) -> None:
    for number, name in enumerate(NAMES, start=1):
        trade.shelf.stock(trade.shelf.product(name=name), number)


def test_csv_is_neutral_and_json_is_not_changed(trade: Trade) -> None:
    _stocked(trade)
    shown = {int(row["on_hand"]): row["name"] for row in got(trade.shelf.api, "stock", "csv")}
    assert shown == {number: f"'{name}" if number <= 4 else name for number, name in enumerate(NAMES, start=1)}
    plain = {row["on_hand"]: row["name"] for row in got(trade.shelf.api, "stock", "json")}
    assert plain == dict(enumerate(NAMES, start=1))


def test_workbook_holds_texts_and_numbers_and_no_formula(trade: Trade) -> None:
    _stocked(trade)
    done = carry_out(trade.shelf.api, asked(trade.shelf.api, "stock", "xlsx")["id"])
    head, *rows = cells(content(trade.shelf.api, done["file_id"]))
    places = {one["value"]: letter for letter, one in head.items()}
    assert not any(cell["formula"] for row in rows for cell in row.values())
    name, on_hand = places["name"], places["on_hand"]
    assert {row[name]["type"] for row in rows} == {"inlineStr"}
    assert {row[on_hand]["type"] for row in rows} == {"n"}
    shown = {int(row[on_hand]["value"]): row[name]["value"] for row in rows}
    assert shown == {number: f"'{text}" if number <= 4 else text for number, text in enumerate(NAMES, start=1)}


def test_negative_quantities_stay_numbers(trade: Trade) -> None:
    level = trade.shelf.level(trade.shelf.stock(trade.gloves, 10))
    trade.shelf.movement(level, -4)
    assert [row["quantity"] for row in got(trade.shelf.api, "movements", "csv")] == ["10", "-4"]
    assert [row["quantity"] for row in got(trade.shelf.api, "movements", "xlsx")] == [10.0, -4.0]
