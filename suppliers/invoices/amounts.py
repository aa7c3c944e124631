"""The arithmetic of invoices: nets of lines, tax by category and rate, totals. Source: contract, supply.md 4; EN 16931 BR-CO-10 to 17."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.errors import FieldError, InvalidFields
from core.money import Money, minor_units
from suppliers.pricing.amounts import line_total
from suppliers.quoting.totals import Net, totals_of

MOST: Final = Decimal(10) ** 15  # what amounts stay below
SLACK: Final = Decimal("0.02")  # PEPPOL-EN16931-R120: what a foreign program may round otherwise
_NOBODY: Final = UUID(int=0)


class Totals(NamedTuple):
    """The totals of a document; `tax` is None where a line has no rate, and `gross` is the net then."""

    net: Decimal
    tax: Decimal | None
    gross: Decimal
    taxes: list[dict[str, Any]]


def line_net(line: Any, currency: str) -> Decimal:
    """Return the net of a line: its packs at its unit price, half up, less its allowance; it may be below nothing."""
    packs = Fraction(line.base_quantity, line.units_per_pack)
    return line_total(line.unit_price, packs, line.price_base_quantity, currency) - Decimal(line.allowance)


def check_places(amount: Decimal, currency: str, field: str) -> list[FieldError]:
    """Return the refusal of an amount that has more decimals than its currency; empty where it has not."""
    places = minor_units(currency)
    if amount == amount.quantize(Decimal(1).scaleb(-places)):
        return []
    return [FieldError(field, "max_decimal_places", f"An amount in {currency} has at most {places} decimals.")]


def in_places(amount: Any, currency: str) -> Decimal:
    """Return an amount with the decimals of its currency."""
    return Money(Decimal(amount), currency).rounded().amount


def totals(
    lines: Sequence[Any], charges: Sequence[Mapping[str, Any]], allowances: Sequence[Mapping[str, Any]], currency: str
) -> Totals:
    """Return the totals of the lines with charges and allowances of the whole document, which are never split over lines.

    :raises InvalidFields: allowances of a group, or of all, are more than what they are taken off; or the sums are too great.
    """
    nets = [Net(_NOBODY, one.net, one.tax_category, _rate(one.tax_rate)) for one in lines]
    for sign, entries in ((1, charges), (-1, allowances)):
        nets += [
            Net(_NOBODY, sign * in_places(one["amount"], currency), one["tax_category"], _rate(one["tax_rate"]))
            for one in entries
        ]
    (found,) = totals_of(nets, currency)
    net, gross = Decimal(found["net"]), Decimal(found["gross"])
    if net < 0 or gross < net or any(Decimal(one["net"]) < 0 for one in found["taxes"]):
        message = "The allowances are more than what they are taken off."
        raise InvalidFields(errors=[FieldError("allowances", "max_value", message)])
    if gross >= MOST:
        raise InvalidFields(errors=[FieldError("lines", "max_value", "The amounts are too great.")])
    return Totals(net, None if found["tax"] is None else Decimal(found["tax"]), gross, found["taxes"])


def _rate(rate: Any) -> str | None:
    return None if rate is None else f"{Decimal(rate):f}"


def check_stated(stated: Mapping[str, Any] | None, made: Totals) -> None:
    """Hold the totals that another program has computed against ours.

    :raises InvalidFields: one differs by more than 0.02; names each.
    """
    ours = {"net": made.net, "tax": made.tax or Decimal(0), "gross": made.gross}
    errors = [
        FieldError(f"stated_totals.{name}", "total_differs", f"We compute {ours[name]:f}.")
        for name, value in (stated or {}).items()
        if value is not None and abs(Decimal(value) - ours[name]) > SLACK
    ]
    if errors:
        raise InvalidFields(errors=errors)
