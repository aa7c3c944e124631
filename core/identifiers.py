"""Standard numbers of goods, locations, companies and accounts, checked and brought to their canonical form.

A function returns None for a text that is no such number. Spaces and punctuation are dropped where people write them.
"""

import re
from collections.abc import Callable
from typing import Final

from stdnum import bic as stdnum_bic
from stdnum import ean, vatin
from stdnum import iban as stdnum_iban
from stdnum import lei as stdnum_lei
from stdnum.exceptions import ValidationError

GTIN_LENGTHS: Final = (8, 12, 13, 14)
GLN_LENGTH: Final = 13
# A single registration number of EUDAMED, such as DE-MF-000012345. Source: Regulation (EU) 2017/745, article 31.
SRN: Final = re.compile(r"[A-Z]{2}-(MF|AR|IM|PR)-[0-9]{9}")

_LEI: Final = re.compile(r"[0-9A-Z]{18}[0-9]{2}")
_DUNS: Final = re.compile(r"[0-9]{9}")
_LONGEST: Final = 64  # characters, with spaces and punctuation; the standard numbers are less than half as long


def gtin14(text: str) -> str | None:
    """Return a GTIN of 8, 12, 13 or 14 digits in its 14-digit form.

    Source: GS1 General Specifications, section 7.9 (check digit).
    """
    return text.zfill(14) if len(text) in GTIN_LENGTHS and has_gs1_check_digit(text) else None


def gtin_forms(gtin: str) -> set[str]:
    """Return a 14-digit GTIN in all lengths it may be written in: those that only drop leading zeros."""
    return {gtin[-length:] for length in GTIN_LENGTHS if not gtin[:-length].strip("0")}


def gln(text: str) -> str | None:
    """Return a Global Location Number of 13 digits. Source: GS1 General Specifications, section 7.9 (check digit)."""
    return text if len(text) == GLN_LENGTH and has_gs1_check_digit(text) else None


def vat_number(text: str) -> str | None:
    """Return a VAT number with the prefix of its country, checked by the rules of that country.

    Greece has the prefix EL. Source: Directive 2006/112/EC, article 215.
    """
    found = _checked(vatin.validate, text)
    return f"EL{found[2:]}" if found and found.startswith("GR") else found


def iban(text: str) -> str | None:
    """Return an IBAN in its electronic form. Source: ISO 13616-1, with the structures of the IBAN registry."""
    return _checked(stdnum_iban.validate, text)


def bic(text: str) -> str | None:
    """Return a business identifier code (SWIFT) of 8 or 11 characters. Source: ISO 9362."""
    return _checked(stdnum_bic.validate, text)


def duns(text: str) -> str | None:
    """Return a D-U-N-S number, nine digits without punctuation; it has no check digit since 2006."""
    found = text.replace("-", "").replace(" ", "") if len(text) <= _LONGEST else ""
    return found if _DUNS.fullmatch(found) else None


def lei(text: str) -> str | None:
    """Return a Legal Entity Identifier. Source: ISO 17442-1."""
    found = _checked(stdnum_lei.validate, text)
    return found if found and _LEI.fullmatch(found) else None


def has_gs1_check_digit(text: str) -> bool:
    """Tell whether a text is digits of which the last one checks the others: a GTIN, GLN or SSCC.

    Source: GS1 General Specifications, section 7.9.
    """
    return text.isascii() and text.isdigit() and ean.calc_check_digit(text[:-1]) == text[-1]


def _checked(validate: Callable[[str], str], text: str) -> str | None:
    if len(text) > _LONGEST or not text.isascii():
        return None
    try:
        return validate(text)
    except ValidationError:
        return None
