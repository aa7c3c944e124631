"""GS1 element strings: what scanners send, and what is refused."""

from datetime import date

import pytest

from core.gs1 import SEPARATOR, InvalidScan, parse

TODAY = date(2026, 3, 1)
GTIN = "04006381333931"


def test_whole_label_is_read():
    found = parse(f"]d201{GTIN}1728043010AB-12{SEPARATOR}11260101{'21'}S1", today=TODAY)
    assert found == {
        "gtin": GTIN, "expiry_date": date(2028, 4, 30), "lot_number": "AB-12", "manufacture_date": date(2026, 1, 1),
        "serial_number": "S1",
    }  # fmt: skip


def test_day_zero_is_the_last_of_the_month():
    assert parse("17280200", today=TODAY) == {"expiry_date": date(2028, 2, 29)}


@pytest.mark.parametrize(("year", "century"), [("76", 2076), ("77", 1977), ("00", 2000), ("26", 2026)])
def test_century_is_that_of_the_sliding_window(year, century):
    assert parse(f"11{year}0101", today=TODAY)["manufacture_date"] == date(century, 1, 1)


def test_century_slides_with_time():
    assert parse("17010101", today=date(2098, 1, 1))["expiry_date"] == date(2101, 1, 1)


def test_sscc_has_its_check_digit():
    sscc = "106141411234567897"
    assert parse(f"00{sscc}", today=TODAY) == {"sscc": sscc}


@pytest.mark.parametrize(
    ("scan", "why"),
    [
        ("", "empty"), ("]C1", "empty"), ("9912", "unknown"), (f"01{GTIN}01{GTIN}", "twice"), ("0104006381333932", "check digit"),
        ("010400638133393", "14 digits"), ("17281301", "no date"), ("17280230", "no date"), ("1728AB01", "6 digits"),
        ("10", "1 to 20"), ("10" + "x" * 21, "1 to 20"), ("00106141411234567898", "check digit"), ("x", "unknown"),
        ("10   ", "character"), ("10A B", "character"), ("10é", "character"), ("21A\u202e", "character"), ("21#", "character"),
    ],
)  # fmt: skip
def test_bad_scans_say_why(scan, why):
    with pytest.raises(InvalidScan, match=why):
        parse(scan, today=TODAY)
