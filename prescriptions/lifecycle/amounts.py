"""Decimals as answers and signatures write them."""

from decimal import Decimal


def decimal_text(value: Decimal | None) -> str | None:
    """Write a decimal without trailing zeros and without an exponent; None for none."""
    return None if value is None else f"{value.normalize() + 0:f}"
