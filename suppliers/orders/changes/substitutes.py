"""Substitutes that a supplier proposes: which a buyer lets him propose, and the lines that they become.

Source: contract, supply-order.md 2 "Substitutes".
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.pipeline import Call, Rows, Statement
from suppliers.inventory.states import Unit
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from suppliers.orders.pricing import PROPOSED, Sold, Terms, sold_of
from suppliers.orders.refusals import SubstitutionNotAllowed
from suppliers.orders.states import Substitution
from suppliers.pricing.amounts import line_total, unit_price
from suppliers.quoting.candidates import Asked, Good

from .price_checks import price_check


class _Pair(NamedTuple):
    """A product, and another that may stand in its place."""

    product_id: UUID
    substitute_id: UUID


_EQUIVALENT = Statement.of(
    "SELECT p.id AS product_id, (s.value ->> 'product_id')::uuid AS substitute_id FROM suppliers_product p"
    " CROSS JOIN LATERAL jsonb_array_elements(p.substitutes) AS s(value)"
    " WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[]) AND s.value ->> 'type' = 'equivalent'",
    row=_Pair,
)
_APPROVED = Statement.of(
    "SELECT a.product_id, a.substitute_product_id AS substitute_id FROM suppliers_approvedsubstitute a"
    " WHERE a.tenant_id = $1 AND a.supplier_id = $2 AND a.product_id = ANY($3::uuid[])",
    row=_Pair,
)


class Replaced(NamedTuple):
    """A line with what the supplier proposes in its place; `field` is where the request names it."""

    line: PurchaseOrderLine
    asked: Mapping[str, Any]
    field: str


def approved_call(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine]) -> Call:
    """Return the statement that reads what the buyer has approved in the place of products, bound to the buyer."""
    return Call(_APPROVED, [str(row.tenant_id), str(row.supplier_tenant_id), _products(lines)])


def equivalent_call(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine]) -> Call:
    """Return the statement that reads the supplier's equivalent products, bound to the supplier."""
    return Call(_EQUIVALENT, [str(row.supplier_tenant_id), _products(lines)])


def _products(lines: Sequence[PurchaseOrderLine]) -> str:
    return array_literal(sorted({one.product_id for one in lines if one.product_id}))


def asked_of(wanted: Sequence[Replaced]) -> list[Asked]:
    """Return the substitutes as products to be read."""
    return [Asked(one.asked["product_id"], None, None, one.asked["packaging_id"]) for one in wanted]


def check_allowed(
    row: PurchaseOrder, wanted: Sequence[Replaced], added: Sequence[PurchaseOrderLine], *found: Rows
) -> None:
    """Require that the buyer's policy lets the supplier propose each substitute; `found` are pairs of products.

    :raises SubstitutionNotAllowed: names each line.
    """
    pairs = {(one.product_id, one.substitute_id) for rows in found for one in rows.of(_Pair)}
    policy = row.substitution_policy
    errors = []
    for one, made in zip(wanted, added, strict=True):
        is_controlled = bool(one.line.license_type or made.license_type)
        is_known = (one.line.product_id, made.product_id) in pairs
        if policy == Substitution.ASK or (policy == Substitution.EQUIVALENT and is_known and not is_controlled):
            continue
        message = "The buyer takes no such substitute."
        errors.append(FieldError(one.field, SubstitutionNotAllowed.code, message))
    if errors:
        raise SubstitutionNotAllowed(errors=errors)


def lines_of(terms: Terms, wanted: Sequence[Replaced], goods: Sequence[Good], sold: Rows) -> list[PurchaseOrderLine]:
    """Return the lines that substitutes become, at the price that the supplier proposes; they are not numbered yet.

    :raises InvalidFields: names each substitute that is no product of the supplier, is the very product, or has no such
        packaging.
    """
    by_line, known = {one.row.n - 1: one for one in goods}, sold_of(sold)
    made, errors = list[PurchaseOrderLine](), list[FieldError]()
    for number, one in enumerate(wanted):
        good = by_line.get(number)
        packaging = known.get(good.row.packaging_id) if good and good.row.packaging_id else None
        if good is None or packaging is None or good.row.product_id == one.line.product_id:
            message = "There is no such other product and packaging of the supplier."
            errors.append(FieldError(f"{one.field}.product_id", "unknown_product", message))
        else:
            made.append(_line(terms, one, good, packaging))
    if errors:
        raise InvalidFields(errors=errors)
    return made


def _line(terms: Terms, one: Replaced, good: Good, packaging: Sold) -> PurchaseOrderLine:
    row, price, quantity = good.row, unit_price(one.asked["unit_price"]), int(one.asked["quantity"])
    line = PurchaseOrderLine(
        id=uuid7(), tenant_id=terms.buyer_id, order_id=one.line.order_id, line_no=0, product_id=row.product_id,
        packaging_id=row.packaging_id, offer_id=None, substitutes_line_id=one.line.id, unit=Unit.PACK.value,
        quantity=quantity, requested_date=one.line.requested_date, name=packaging.name, supplier_sku=row.supplier_sku,
        gtin=packaging.gtin, category=row.category, packaging=packaging.snapshot, base_unit=row.base_unit,
        units_per_pack=packaging.units_per_pack, license_type=packaging.license_type, currency=terms.currency,
        unit_price=price, price_base_quantity=1, net=line_total(price, quantity, 1, terms.currency),
        tax_category=row.tax_category, tax_rate=None if row.tax_rate is None else Decimal(row.tax_rate),
        price_source=PROPOSED, ordered=quantity * packaging.units_per_pack,
    )  # fmt: skip
    line.price_check = price_check(terms, line, good)
    return line
