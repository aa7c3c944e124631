"""Trade item numbers. Source: GS1 General Specifications, section 7.9 (check digit)."""

GTIN_LENGTHS = (8, 12, 13, 14)


def check_digit(body: str) -> str:
    """The GS1 check digit of the digits before it: weights 3 and 1 from the right, up to the next ten."""
    total = sum(int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(body)))
    return str(-total % 10)


def gtin14(text: str) -> str | None:
    """A GTIN of 8, 12, 13 or 14 digits in its 14-digit form, or None if it is none."""
    if len(text) not in GTIN_LENGTHS or not (text.isascii() and text.isdigit()) or check_digit(text[:-1]) != text[-1]:
        return None
    return text.zfill(14)


def gtin_forms(gtin: str) -> set[str]:
    """The forms people know a 14-digit GTIN by: each shorter length that only drops leading zeros."""
    return {gtin[-length:] for length in GTIN_LENGTHS if not gtin[:-length].strip("0")}
