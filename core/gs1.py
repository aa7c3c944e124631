"""GS1 element strings, as scanners read them from a DataMatrix or a GS1-128 label.

Source: GS1 General Specifications, sections 3 (application identifiers), 7.2 (symbology identifiers, FNC1), 7.11 (characters), 7.12 (dates).
"""

import calendar
import string
from datetime import date
from typing import Final

from .identifiers import gtin14, has_gs1_check_digit

SEPARATOR: Final = "\x1d"  # FNC1 as scanners send it
_SYMBOLOGIES: Final = ("]C1", "]d2", "]Q3", "]e0", "]J1")
_FIXED: Final = {"00": 18, "01": 14, "11": 6, "17": 6}
_VARIABLE: Final = {"10": 20, "21": 20}
# Character set 82, section 7.11.
_CHARACTERS: Final = frozenset(string.ascii_letters + string.digits + "!\"%&'()*+,-./_:;<=>?")
NAMES: Final = {
    "00": "sscc", "01": "gtin", "10": "lot_number", "11": "manufacture_date", "17": "expiry_date", "21": "serial_number",
}  # fmt: skip


class InvalidScan(ValueError):
    """The text is no element string of the identifiers 00, 01, 10, 11, 17 and 21; the message says why."""


def parse(scan: str, *, today: date) -> dict[str, str | date]:
    """Return the members of an element string: `gtin` (14 digits), `lot_number`, `expiry_date` and so on.

    `today` decides the century of dates.

    :raises InvalidScan: an identifier is unknown or repeated, a value too long or too short, a check digit wrong.
    """
    rest = scan
    for prefix in _SYMBOLOGIES:
        rest = rest.removeprefix(prefix)
    rest = rest.removeprefix(SEPARATOR)
    found: dict[str, str | date] = {}
    while rest:
        identifier = rest[:2]
        if identifier not in NAMES:
            raise InvalidScan(f"The application identifier {identifier!r} is unknown.")
        value, rest = _split(identifier, rest[2:])
        name = NAMES[identifier]
        if name in found:
            raise InvalidScan(f"The application identifier {identifier} is there twice.")
        found[name] = _read(identifier, value, today)
    if not found:
        raise InvalidScan("The scan is empty.")
    return found


def _split(identifier: str, rest: str) -> tuple[str, str]:
    if identifier in _FIXED:
        length = _FIXED[identifier]
        return rest[:length], rest[length:].removeprefix(SEPARATOR)
    value, _, rest = rest.partition(SEPARATOR)
    return value, rest


def _read(identifier: str, value: str, today: date) -> str | date:
    if identifier in _FIXED and not (value.isascii() and value.isdigit() and len(value) == _FIXED[identifier]):
        raise InvalidScan(f"The value of {identifier} has {_FIXED[identifier]} digits.")
    if identifier in _VARIABLE and not 1 <= len(value) <= _VARIABLE[identifier]:
        raise InvalidScan(f"The value of {identifier} has 1 to {_VARIABLE[identifier]} characters.")
    if not _CHARACTERS.issuperset(value):
        raise InvalidScan(f"The value of {identifier} has a character that no GS1 label has.")
    if identifier == "01" and gtin14(value) is None:
        raise InvalidScan("The check digit of the GTIN is wrong.")
    if identifier == "00" and not has_gs1_check_digit(value):
        raise InvalidScan("The check digit of the SSCC is wrong.")
    return _date(identifier, value, today) if identifier in ("11", "17") else value


def _date(identifier: str, value: str, today: date) -> date:
    """Read YYMMDD; day 00 is the last one of the month. A year lies at most 49 behind and 50 ahead of this one."""
    year, month, day = int(value[:2]), int(value[2:4]), int(value[4:])
    year += today.year // 100 * 100
    if year - today.year > 50:
        year -= 100
    elif year - today.year < -49:
        year += 100
    try:
        return date(year, month, day or calendar.monthrange(year, month)[1])
    except (ValueError, calendar.IllegalMonthError) as error:
        raise InvalidScan(f"The value of {identifier} is no date.") from error
