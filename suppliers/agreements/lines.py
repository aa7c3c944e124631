"""Lines of drafts: what they name is held against the supplier's catalog, in as many trips for 10,000 as for one.

A line is kept as it is answered: `{product_id, category, packaging_id, price_base_quantity, tiers, max_quantity,
min_remaining_shelf_life_days, lead_time_days}`, amounts as decimal strings. No two lines have the same product or category
and packaging.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.canonical import decimal_text
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Statement, run
from suppliers.pricing.amounts import shown

from .states import LinesMode
from .terms import MOST_LINES

Line = dict[str, Any]
Key = tuple[str | None, str | None, str | None]
_PLAIN: Final = ("price_base_quantity", "max_quantity", "min_remaining_shelf_life_days", "lead_time_days")


class _Packaging(NamedTuple):
    """A packaging that a line names, and the product that it belongs to."""

    id: UUID
    product_id: UUID


# OFFSET 0 keeps the order: first what is named, then each row by its key.
_PRODUCTS = Statement.of(
    "SELECT p.id::text FROM unnest($2::uuid[]) AS g(id) CROSS JOIN LATERAL (SELECT t.id FROM suppliers_product t"
    " WHERE t.tenant_id = $1 AND t.id = g.id AND t.archived_at IS NULL OFFSET 0) p"
)
_PACKAGINGS = Statement.of(
    "SELECT k.id, k.product_id FROM unnest($2::uuid[]) AS g(id) CROSS JOIN LATERAL (SELECT t.id, t.product_id"
    " FROM suppliers_packaging t WHERE t.tenant_id = $1 AND t.id = g.id AND t.state = 'current' OFFSET 0) k",
    row=_Packaging,
)
_CATEGORIES = Statement.of(
    "SELECT c.code FROM suppliers_platformcategory c WHERE c.code = ANY($2::text[]) AND c.active"
    " UNION SELECT c.code FROM suppliers_category c WHERE c.tenant_id = $1 AND c.code = ANY($2::text[]) AND c.active"
)


def key_of(line: Mapping[str, Any]) -> Key:
    """Return what a line is about: product, category, packaging."""
    product, packaging = line["product_id"], line["packaging_id"]
    return (str(product) if product else None, line["category"], str(packaging) if packaging else None)


@needs_transaction
def checked(caller_id: UUID, supplier_id: UUID, given: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Return the lines of a body as they are kept, those to be taken out with `tiers` empty; the caller stays bound.

    :raises InvalidFields: names each line whose product, packaging or category the supplier has not, or that is there twice.
    """
    if not given:
        return []
    known = _Known(caller_id, supplier_id, given)
    errors: list[FieldError] = []
    seen: set[Key] = set()
    for number, line in enumerate(given):
        fault = known.fault(line)
        if fault is None and key_of(line) in seen:
            fault = "", "duplicate", "Another line has this product or category and packaging."
        seen.add(key_of(line))
        if fault is not None:
            member, code, message = fault
            errors.append(FieldError(f"lines.{number}{member}", code, message))
    if errors:
        raise InvalidFields(errors=errors)
    return [_kept(line) for line in given]


class _Known:
    """What lines name of the supplier's catalog, as far as it is there."""

    def __init__(self, caller_id: UUID, supplier_id: UUID, given: Sequence[Mapping[str, Any]]) -> None:
        named = {
            name: {str(line[name]) for line in given if line[name] and not line["remove"]}
            for name in ("product_id", "packaging_id", "category")
        }
        mine = str(supplier_id)
        _, products, packagings, categories, _ = run(
            [
                bind_call(supplier_id),
                Call(_PRODUCTS, [mine, array_literal(named["product_id"])]),
                Call(_PACKAGINGS, [mine, array_literal(named["packaging_id"])]),
                Call(_CATEGORIES, [mine, array_literal(named["category"])]),
                bind_call(caller_id),
            ]
        )
        self.products = {(products.value(number) or b"").decode() for number in range(len(products))}
        self.packagings = {one.id: one.product_id for one in packagings.of(_Packaging)}
        self.categories = {(categories.value(number) or b"").decode() for number in range(len(categories))}

    def fault(self, line: Mapping[str, Any]) -> tuple[str, str, str] | None:
        """Return the member, the code and the message of what is wrong with a line; what is to go may name anything."""
        if line["remove"]:
            return None
        if line["category"] is not None:
            known = line["category"] in self.categories
            return None if known else (".category", "unknown_category", "The supplier has no such category.")
        if str(line["product_id"]) not in self.products:
            return ".product_id", "unknown_product", "The supplier has no such product."
        packaging = line["packaging_id"]
        if packaging is not None and self.packagings.get(packaging) != line["product_id"]:
            return ".packaging_id", "unknown_packaging", "The product has no such packaging."
        return None


def _kept(line: Mapping[str, Any]) -> Line:
    product, category, packaging = key_of(line)
    return {
        "product_id": product,
        "category": category,
        "packaging_id": packaging,
        "tiers": [_tier(tier) for tier in line["tiers"]],
        **{name: line[name] for name in _PLAIN},
    }


def _tier(tier: Mapping[str, Any]) -> dict[str, Any]:
    """Write a tier as it is stored and answered: amounts as decimal strings."""
    price, percent = tier["unit_price"], tier["discount_percent"]
    told = {"unit_price": shown(price)} if price is not None else {"discount_percent": decimal_text(percent)}
    return {"min_quantity": tier["min_quantity"], **told}


def merged(present: Sequence[Line], changes: Sequence[Line], mode: str) -> list[Line]:
    """Return the lines of a draft after a change; those that stay keep their place, new ones come last.

    :raises InvalidFields: none would be left, or more than an agreement may have.
    """
    found = {key_of(line): line for line in present} if mode == LinesMode.MERGE else {}
    for line in changes:
        if line["tiers"]:
            found[key_of(line)] = line
        else:
            found.pop(key_of(line), None)
    if not found:
        raise InvalidFields(errors=[FieldError("lines", "required", "An agreement has at least one line.")])
    if len(found) > MOST_LINES:
        message = f"An agreement has at most {MOST_LINES} lines; there would be {len(found)}."
        raise InvalidFields(errors=[FieldError("lines", "max_length", message)])
    return [*found.values()]


def categories_of(lines: Sequence[Line]) -> list[str]:
    """Return the categories that lines name, in order."""
    return sorted({line["category"] for line in lines if line["category"]})
