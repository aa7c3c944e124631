"""Numbers of goods, places, companies and accounts, held against the rule of each standard."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import identifiers

DIGITS = st.text("0123456789", min_size=7, max_size=14)
COUNTRIES = [
    "AT",
    "BE",
    "BG",
    "CH",
    "CY",
    "CZ",
    "DE",
    "DK",
    "EE",
    "EL",
    "ES",
    "EU",
    "FI",
    "FR",
    "GB",
    "GR",
    "HR",
    "HU",
    "IE",
    "IS",
    "IT",
    "LT",
    "LU",
    "LV",
    "MT",
    "NL",
    "NO",
    "PL",
    "PT",
    "RO",
    "RS",
    "SE",
    "SI",
    "SK",
    "TR",
    "XI",
]


def gs1_check_digit(body: str) -> str:
    """The rule in the words of the standard: weights 3 and 1 from the right, then the distance to the next ten."""
    odd, even = body[::-2], body[-2::-2]
    total = 3 * sum(map(int, odd)) + sum(map(int, even))
    return str((10 - total % 10) % 10)


@given(DIGITS)
def test_gtin_is_what_the_standard_says_and_nothing_else(text: str) -> None:
    is_gtin = len(text) in (8, 12, 13, 14) and gs1_check_digit(text[:-1]) == text[-1]

    assert identifiers.gtin14(text) == ("0" * (14 - len(text)) + text if is_gtin else None)


@given(st.sampled_from([7, 11, 12, 13]).flatmap(lambda size: st.text("0123456789", min_size=size, max_size=size)))
def test_gtin_with_its_check_digit_is_accepted_and_every_other_last_digit_refused(body: str) -> None:
    right = gs1_check_digit(body)

    assert identifiers.gtin14(body + right) == (body + right).rjust(14, "0")
    assert [digit for digit in string.digits if identifiers.gtin14(body + digit)] == [right]


@given(st.from_regex(r"[0-9]{13}", fullmatch=True), st.integers(0, 12), st.integers(1, 9))
def test_one_wrong_digit_is_always_noticed(body: str, place: int, step: int) -> None:
    right = body + gs1_check_digit(body)
    wrong = right[:place] + str((int(right[place]) + step) % 10) + right[place + 1 :]

    assert identifiers.gtin14(right) == right
    assert identifiers.gtin14(wrong) is None


@given(st.text(max_size=20))
def test_gtin_takes_digits_alone(text: str) -> None:
    if identifiers.gtin14(text) is not None:
        assert set(text) <= set(string.digits)


@pytest.mark.parametrize(
    "text", ["4006381 333931", "4006381-333931", "٤٠٠٦٣٨١٣٣٣٩٣١", "4006381333931\n", "40063813339310"]
)
def test_digits_with_anything_between_are_no_gtin(text: str) -> None:
    assert identifiers.gtin14(text) is None


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("96385074", "00000096385074"),
        ("036000291452", "00036000291452"),
        ("4006381333931", "04006381333931"),
        ("14006381333938", "14006381333938"),
        ("4006381333930", None),
        ("963850740", None),
        ("", None),
        ("4006381 33393", None),
    ],
)
def test_gtin_is_stored_with_fourteen_digits(text: str, stored: str | None) -> None:
    assert identifiers.gtin14(text) == stored


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("7080000000012", "7080000000012"),
        ("4006381333931", "4006381333931"),
        ("4006381333930", None),
        ("96385074", None),
        ("04006381333931", None),
        ("708 0000000012", None),
    ],
)
def test_gln_has_thirteen_digits(text: str, stored: str | None) -> None:
    assert identifiers.gln(text) == stored


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("DE 136,695 976", "DE136695976"),
        ("fr 61 954 506 077", "FR61954506077"),
        ("BE697449992", "BE0697449992"),
        ("GR094259216", "EL094259216"),
        ("EL 094259216", "EL094259216"),
        ("XI980780684", "XI980780684"),
        ("NO 995 525 828 MVA", "NO995525828MVA"),
        ("CHE-107.787.577 IVA", "CHE107787577IVA"),
        ("DE136695977", None),
        ("136695976", None),
        ("XX123456789", None),
        ("D", None),
        ("", None),
    ],
)
def test_vat_number_is_checked_by_its_country(text: str, stored: str | None) -> None:
    assert identifiers.vat_number(text) == stored


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("no9386011117947", "NO9386011117947"),
        ("DE88370400440532013000", None),
        ("NO93860111179471", None),
        ("XX89370400440532013000", None),
        ("", None),
    ],
)
def test_iban_is_checked_by_digits_length_and_country(text: str, stored: str | None) -> None:
    assert identifiers.iban(text) == stored


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("213800KUD8LAJWSQ9D15", "213800KUD8LAJWSQ9D15"),
        ("213800kud8lajwsq9d15", "213800KUD8LAJWSQ9D15"),
        ("213800KUD8LXJWSQ9D15", None),
        ("97", None),  # its remainder is right, its length is not
        ("", None),
    ],
)
def test_lei_has_twenty_characters_and_its_check_digits(text: str, stored: str | None) -> None:
    assert identifiers.lei(text) == stored


@given(st.sampled_from(["", *COUNTRIES]), st.text(string.printable, max_size=40))
def test_odd_text_is_refused_and_what_is_accepted_stays_as_it_is(country: str, text: str) -> None:
    for read in (identifiers.vat_number, identifiers.iban, identifiers.lei, identifiers.gln):
        found = read(country + text)
        assert found is None or read(found) == found


def test_long_and_foreign_text_is_refused() -> None:
    for read in (identifiers.vat_number, identifiers.iban, identifiers.lei):
        assert read("DE" + "1" * 10_000) is None
        assert read("DE\N{FULLWIDTH DIGIT ONE}36695976") is None


def test_forms_drop_leading_zeros_only() -> None:
    assert identifiers.gtin_forms("00036000291452") == {"00036000291452", "0036000291452", "036000291452"}
    assert identifiers.gtin_forms("14006381333938") == {"14006381333938"}
