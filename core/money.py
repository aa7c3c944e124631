"""Money: a decimal amount and an ISO 4217 code, never a float. Source: contract, conventions "Money"."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

from iso4217 import Currency

from .errors import Malformed

# Precious metals, units of account and test codes have no exponent; prices cannot be given in them.
_MINOR_UNITS: Final = {one.code: one.exponent for one in Currency if one.exponent is not None}
_MOST_USUAL: Final = 2
_WIDE: Final = Context(prec=60)  # sums of many amounts have more digits than one


class UnknownCurrency(Malformed):
    """The code is not an active currency of ISO 4217."""

    code = "unknown_currency"
    title = "The currency is not an active code of ISO 4217."


def is_currency(code: str) -> bool:
    """Tell whether a code is an active currency with a smallest unit, so that amounts can be rounded."""
    return code in _MINOR_UNITS


def minor_units(currency: str) -> int:
    """Return the number of decimals of a currency's smallest unit. Source: ISO 4217 table A.1 (exponent).

    :raises UnknownCurrency: the code is not an active currency.
    """
    try:
        return _MINOR_UNITS[currency]
    except KeyError:
        raise UnknownCurrency from None


def minor_units_sql(currency: str) -> str:
    """Write the number of decimals of a currency's smallest unit, as SQL over an expression of its code.

    Codes stand in one text for each number: amounts are many in a statement, and a list of constants takes time to plan.
    """
    cases = []
    for places in sorted({*_MINOR_UNITS.values()} - {_MOST_USUAL}):
        codes = "".join(f" {code}" for code, found in sorted(_MINOR_UNITS.items()) if found == places)
        cases.append(f" WHEN strpos('{codes}', {currency}) > 1 THEN {places}")
    return f"(CASE{''.join(cases)} ELSE {_MOST_USUAL} END)"


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in one currency."""

    amount: Decimal
    currency: str

    def rounded(self) -> "Money":
        """Return the amount rounded half up to the currency's minor units.

        :raises UnknownCurrency: the code is not an active currency.
        """
        step = Decimal(1).scaleb(-minor_units(self.currency))
        return Money(self.amount.quantize(step, rounding=ROUND_HALF_UP, context=_WIDE), self.currency)

    def as_json(self) -> dict[str, str]:
        """Return the JSON form: `{"amount": "12.50", "currency": "EUR"}`."""
        return {"amount": f"{self.amount:f}", "currency": self.currency}
