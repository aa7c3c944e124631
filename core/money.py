"""Money: a decimal amount and an ISO 4217 code, never a float. Source: contract, conventions "Money"."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

_MINOR_UNITS = dict.fromkeys(
    ("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"), 0
) | dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3)


def minor_units(currency: str) -> int:
    """How many decimals a currency's smallest unit has. Source: ISO 4217 table A.1 (exponent)."""
    return _MINOR_UNITS.get(currency, 2)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in one currency."""

    amount: Decimal
    currency: str

    def rounded(self) -> "Money":
        """Half up to the currency's minor units."""
        step = Decimal(1).scaleb(-minor_units(self.currency))
        return Money(self.amount.quantize(step, rounding=ROUND_HALF_UP), self.currency)

    def as_json(self) -> dict[str, str]:
        """The shape on the wire: `{"amount": "12.50", "currency": "EUR"}`."""
        return {"amount": f"{self.amount:f}", "currency": self.currency}
