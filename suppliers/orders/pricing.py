"""The lines of an order with their goods and prices as they are now, and the totals of the order.

Drafts, submits and changes are priced by the very code of quotes. Source: contract, supply-price.md 2 to 4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Rows, Statement
from suppliers.agreements.refusals import AgreementExhausted
from suppliers.inventory.states import Unit
from suppliers.marketplace.refusals import OfferNotAvailable
from suppliers.pricing.amounts import HIGHEST, line_total, sum_of, unit_price
from suppliers.pricing.candidates import Source
from suppliers.quoting.candidates import Asked, Good, supplier_call
from suppliers.quoting.lines import Asking, PricedLine, price_lines
from suppliers.quoting.refusals import PriceNotAvailable
from suppliers.quoting.totals import Net, totals_of

MOST: Final = Decimal(10) ** 15  # what the amounts of an order stay below
MANUAL: Final = "manual"
PROPOSED: Final = "proposed"  # by the supplier, with a substitute


class Sold(NamedTuple):
    """A packaging with its product, as a line keeps it."""

    packaging_id: UUID
    name: str
    license_type: str
    level: str
    packaging_name: str
    units_per_pack: int
    gtin: str

    @property
    def snapshot(self) -> dict[str, Any]:
        """The packaging as a line keeps it."""
        return {"level": self.level, "name": self.packaging_name or None, "units_per_pack": self.units_per_pack}


_SOLD = Statement.of(
    "SELECT k.id AS packaging_id, p.name, coalesce(p.controlled ->> 'license_type', '') AS license_type, k.level,"
    " k.name AS packaging_name, k.units_per_pack, coalesce(k.gtin, '') AS gtin"
    " FROM suppliers_product p JOIN suppliers_packaging k ON k.tenant_id = p.tenant_id AND k.product_id = p.id AND k.tenant_id = $1"
    " WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[])",
    row=Sold,
)


@dataclass(frozen=True, slots=True)
class Terms:
    """What all lines of an order have in common: whose they are, and what their prices depend on."""

    buyer_id: UUID
    supplier_id: UUID
    currency: str
    country: str | None
    agreement_id: UUID | None


@dataclass(frozen=True, slots=True)
class OrderedLine:
    """A line as it is now: the values of its columns, and what only a submit asks of it.

    `priced` is None for a line of free text.
    """

    values: dict[str, Any]
    priced: PricedLine | None


def reading_calls(terms: Terms, asked: Sequence[Asked], at: datetime) -> list[Call]:
    """Return the statements that read what lines may cost and what their goods are, for a transaction bound to the supplier."""
    products = array_literal({one.product_id for one in asked if one.product_id})
    return [
        supplier_call(terms.supplier_id, terms.buyer_id, asked, at, country=terms.country),
        Call(_SOLD, [str(terms.supplier_id), products]),
    ]


def sold_of(found: Rows) -> dict[UUID, Sold]:
    """Return the packagings that `reading_calls` has read last, by their ids."""
    return {one.packaging_id: one for one in found.of(Sold)}


def priced_lines(
    terms: Terms, goods: Sequence[Good], sold: Rows, lines: Sequence[Mapping[str, Any]]
) -> list[OrderedLine]:
    """Return the lines with their prices.

    :raises InvalidFields: names each line whose product the buyer does not see, or whose packaging there is not; or whose
        amount is too large; or that the named agreement is none.
    :raises PriceNotAvailable, AgreementExhausted: name each line without a price.
    """
    by_line = {one.row.n - 1: one for one in goods}
    _check(by_line, lines)
    named = str(terms.agreement_id) if terms.agreement_id else None
    if named and not any(named in one.agreements for one in goods):
        message = "There is no such agreement in force with the supplier."
        raise InvalidFields(errors=[FieldError("price_agreement_id", "unknown_agreement", message)])
    asking = Asking(terms.currency, named, apply_corrections=False, for_buyer=True)
    try:
        found = price_lines([by_line.get(number) for number in range(len(lines))], lines, asking)
    except (PriceNotAvailable, AgreementExhausted) as error:
        raise _of_lines(error) from None
    known = sold_of(sold)
    made = [_line(terms, line, priced, known) for line, priced in zip(lines, found, strict=True)]
    _check_amounts(made)
    return made


def _check(goods: Mapping[int, Good], lines: Sequence[Mapping[str, Any]]) -> None:
    """Refuse lines whose product the buyer does not know: it sees no offer, and has agreed on no price.

    :raises InvalidFields: names each line.
    """
    errors = []
    for number in range(len(lines)):
        good = goods.get(number)
        if good is None or (
            good.row.offer is None and not any(one.source is Source.CONTRACT for one in good.candidates)
        ):
            message = "You are offered no such product of this supplier."
            errors.append(FieldError(f"lines.{number}", "unknown_product", message))
        elif good.row.packaging_id is None:
            message = "The product has no such packaging."
            errors.append(FieldError(f"lines.{number}.packaging_id", "unknown_packaging", message))
    if errors:
        raise InvalidFields(errors=errors)


def _of_lines(error: PriceNotAvailable | AgreementExhausted) -> PriceNotAvailable | AgreementExhausted:
    """Return a refusal of a quote as one of an order, whose lines have another name."""
    errors = [replace(one, field=one.field.replace("items.", "lines.", 1)) for one in error.errors]
    if all(one.code == OfferNotAvailable.code for one in errors):
        errors = [replace(one, code=PriceNotAvailable.code) for one in errors]
    return type(error)(errors=errors)


def _line(terms: Terms, line: Mapping[str, Any], priced: PricedLine, known: Mapping[UUID, Sold]) -> OrderedLine:
    row, price = priced.good.row, priced.price
    assert row.packaging_id is not None
    sold = known[row.packaging_id]
    list_net = None if priced.discount is None else sum_of([priced.total, priced.discount])
    contract = None
    if price.source is Source.CONTRACT:
        contract = {
            "id": price.source_id, "revision": price.candidate.version, "line_no": price.candidate.line_no
        }  # fmt: skip
    values = {
        "product_id": row.product_id, "packaging_id": row.packaging_id, "offer_id": row.offer_id if row.suits else None,
        "own_code": line.get("own_code") or "", "unit": line["unit"], "quantity": line["quantity"],
        "requested_date": line.get("requested_date"), "name": sold.name, "supplier_sku": row.supplier_sku, "gtin": sold.gtin,
        "category": row.category,
        "packaging": sold.snapshot,
        "base_unit": row.base_unit, "units_per_pack": sold.units_per_pack, "license_type": sold.license_type,
        "currency": terms.currency, "unit_price": price.unit_price, "price_base_quantity": price.price_base_quantity,
        "list_price": priced.list_price, "list_net": list_net, "net": priced.total, "tax_category": row.tax_category,
        "tax_rate": None if row.tax_rate is None else Decimal(row.tax_rate), "price_source": price.source.text,
        "price_source_id": UUID(price.source_id), "agreement": contract,
        "redeemed": [[key, f"{saved:f}"] for key, saved in price.redeemed], "trace": price.trace, "price_check": None,
        "ordered": priced.measured.base_quantity,
    }  # fmt: skip
    return OrderedLine(values, priced)


def manual_lines(terms: Terms, lines: Sequence[Mapping[str, Any]]) -> list[OrderedLine]:
    """Return lines of free text with the prices that the buyer gives them; their unit is a base unit, of which a pack is one.

    :raises InvalidFields: the amount of a line is too large.
    """
    made = []
    for line in lines:
        price = unit_price(line["unit_price"])
        check: dict[str, Any] = {"result": "ok", "contract_unit_price": None, "source_id": None, "trace": []}
        values = {
            "product_id": None, "packaging_id": None, "offer_id": None, "own_code": line.get("own_code") or "",
            "unit": Unit.BASE.value, "quantity": line["quantity"], "requested_date": line.get("requested_date"),
            "name": line["description"], "supplier_sku": line.get("supplier_sku") or "", "gtin": line.get("gtin") or "",
            "category": "", "packaging": None, "base_unit": line["base_unit"], "units_per_pack": 1, "license_type": "",
            "currency": terms.currency, "unit_price": price, "price_base_quantity": 1, "list_price": None, "list_net": None,
            "net": line_total(price, Fraction(line["quantity"]), 1, terms.currency), "tax_category": "",
            "tax_rate": line.get("tax_rate"), "price_source": MANUAL, "price_source_id": None, "agreement": None,
            "redeemed": [], "trace": [], "price_check": check, "ordered": line["quantity"],
        }  # fmt: skip
        made.append(OrderedLine(values, None))
    _check_amounts(made)
    return made


def _check_amounts(lines: Sequence[OrderedLine]) -> None:
    """Hold list prices and the amounts of lines, and their sum, below what can be stored.

    :raises InvalidFields: names the line from which on the order is too large, or each whose list price is.
    """
    message = "The list price would be too large for as many packs as the price is for."
    errors = [
        FieldError(f"lines.{number}", "max_value", message)
        for number, line in enumerate(lines)
        if (line.values["list_price"] or 0) > HIGHEST
    ]
    if errors:
        raise InvalidFields(errors=errors)
    total = Decimal(0)
    for number, line in enumerate(lines):
        total = sum_of([total, line.values["net"], line.values["list_net"] or Decimal(0)])
        if total * 2 >= MOST:  # with tax it is at most twice as much
            message = "The amount of the order would be too large."
            raise InvalidFields(errors=[FieldError(f"lines.{number}.quantity", "max_value", message)])


def totals(terms: Terms, lines: Sequence[OrderedLine]) -> dict[str, Any]:
    """Return the columns of an order's totals."""
    nets = [
        Net(
            terms.supplier_id,
            one.values["net"],
            one.values["tax_category"],
            None if one.values["tax_rate"] is None else str(one.values["tax_rate"]),
        )
        for one in lines
    ]
    (found,) = totals_of(nets, terms.currency)
    tax = found["tax"]
    return {
        "net": Decimal(found["net"]),
        "tax": None if tax is None else Decimal(tax),
        "gross": Decimal(found["gross"]),
        "taxes": found["taxes"],
        "lines_total": len(lines),
    }
