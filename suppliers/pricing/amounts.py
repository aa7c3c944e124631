"""Exact arithmetic of prices: unit prices have 6 decimals, totals those of the currency; both are rounded half up.

Source: contract, supply.md 4 "Money" and "Rounding"; EN 16931 BR-CO-10.
"""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import reduce
from typing import Final

from core.money import minor_units

_EXACT: Final = Context(prec=60, rounding=ROUND_HALF_UP)
_UNIT: Final = Decimal("0.000001")
HIGHEST: Final = Decimal("9999999999999.999999")  # as a unit price: it is kept as NUMERIC(19,6)
_HUNDRED: Final = Decimal(100)
_STEPS: Final = [Decimal(1).scaleb(-places) for places in range(7)]  # by decimals; no currency has more than 4


def unit_price(amount: Decimal) -> Decimal:
    """Round a unit price."""
    return amount.quantize(_UNIT, context=_EXACT)


def less_percent(price: Decimal, percent: Decimal) -> Decimal:
    """Return a unit price less so many percent; a negative percentage is put on top."""
    return unit_price(_EXACT.multiply(price, _HUNDRED - percent).scaleb(-2, context=_EXACT))


def for_packs(price: Decimal, base_quantity: int, packs: int) -> Decimal:
    """Return a unit price for `base_quantity` packs as one for another number of packs."""
    parts = int(price.scaleb(6, context=_EXACT)) * packs
    return Decimal((2 * parts + base_quantity) // (2 * base_quantity)).scaleb(-6, context=_EXACT)


def line_total(price: Decimal, quantity: int | Fraction, base_quantity: int, currency: str) -> Decimal:
    """Return the net of so many packs, whose unit price is for `base_quantity` packs.

    :raises UnknownCurrency: the code is not an active currency.
    """
    places = minor_units(currency)
    if base_quantity == 1 and type(quantity) is int and not price.is_signed():  # the usual case, in fewer steps
        return _EXACT.multiply(price, quantity).quantize(_STEPS[places], context=_EXACT)
    total, parts = int(price.scaleb(6, context=_EXACT)) * quantity, base_quantity * 10**6
    return Decimal((2 * total * 10**places + parts) // (2 * parts)).scaleb(-places, context=_EXACT)


def sum_of(amounts: Iterable[Decimal]) -> Decimal:
    """Add amounts up, exactly; 0 where there are none."""
    return reduce(_EXACT.add, amounts, Decimal(0))


def tax_of(net: Decimal, rate: Decimal, currency: str) -> Decimal:
    """Return the tax on a net amount at a rate in percent.

    :raises UnknownCurrency: the code is not an active currency.
    """
    step = Decimal(1).scaleb(-minor_units(currency))
    return _EXACT.divide(_EXACT.multiply(net, rate), _HUNDRED).quantize(step, context=_EXACT)


def shown(amount: Decimal) -> str:
    """Write a unit price with as many decimals as needed, at least two."""
    text = f"{amount:f}"
    if text[-7:-6] == "." and text.endswith("0000"):  # the usual case: six decimals, of which two are used
        return text[:-4]
    decimals = len(text) - text.find(".") - 1 if "." in text else 0
    if decimals > 2:
        text = text.rstrip("0")
        decimals = len(text) - text.find(".") - 1
    return text if decimals >= 2 else f"{amount:.2f}"
