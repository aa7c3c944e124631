"""Which goods at a place a dispensed line means: by the code of the product, then by the lot. Source: contract, supply-shelf.md "Dispensing"."""

import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.identifiers import gtin14
from core.pipeline import Call, Rows, Statement
from suppliers.catalog.states import LOT_TRACKING, SERIAL_TRACKING
from suppliers.inventory.items.offered import ATC, code_key
from suppliers.inventory.states import UnbookedReason

_GTIN: Final = "GTIN"
_OID_OF_GTIN: Final = "1.3.160"  # Source: the OID registry, {iso(1) identified-organization(3) gtin(160)}
_SUBSTANCE_LENGTH: Final = 7  # of an ATC code of the fifth level, a substance. Source: WHO, structure of the ATC system
_LAST: Final = re.compile(r"[^/:]+$")
# Measures that people write, as units of UNECE Rec 20 (and UCUM, whose codes are the keys); all other units are counted.
_MEASURES: Final = {"ml": "MLT", "l": "LTR", "dl": "DLT", "mg": "MGM", "g": "GRM", "kg": "KGM", "ug": "MC", "mcg": "MC"}


class Line(NamedTuple):
    """A dispensed line of the figures of a fact; `keys` are the codes of its product as items keep them."""

    id: UUID
    system: str
    code: str
    gtin: str
    keys: tuple[str, ...]
    lot_number: str
    quantity: str
    unit: str


class Found(NamedTuple):
    """A product that a code names, as the tenant holds it, with one of its levels at the place, if there is one."""

    product_id: UUID
    owner_id: UUID
    supplier_sku: str
    category: str
    tracking: str
    base_unit: str
    keys: Any
    level_id: UUID | None
    lot_number: str


_KEYS = (
    "(SELECT coalesce(json_agg(x.key), '[]') FROM (SELECT 'GTIN ' || k.gtin AS key FROM suppliers_packaging k WHERE k.tenant_id = $1"
    " AND k.product_id = p.id AND k.state = 'current' AND k.gtin IS NOT NULL UNION ALL"
    " SELECT upper(trim(c.value ->> 'system')) || ' ' || upper(trim(c.value ->> 'value')) FROM jsonb_array_elements(p.national_codes) c"
    " UNION ALL SELECT 'ATC ' || (p.classifications ->> 'atc') WHERE p.classifications ? 'atc') x)"
)
_OF_ITEM = "(SELECT json_agg(x.key) FROM (SELECT 'GTIN ' || unnest(i.gtins) AS key UNION ALL SELECT unnest(i.codes)) x)"
_OWN = (
    "EXISTS (SELECT 1 FROM suppliers_packaging k WHERE k.tenant_id = $1 AND k.product_id = p.id AND k.state = 'current'"
    " AND k.gtin = ANY($3::text[])) OR EXISTS (SELECT 1 FROM jsonb_array_elements(p.national_codes) c"
    " WHERE upper(trim(c.value ->> 'system')) || ' ' || upper(trim(c.value ->> 'value')) = ANY($4::text[]))"
    " OR 'ATC ' || (p.classifications ->> 'atc') = ANY($4::text[])"
)
_FIND = Statement.of(
    "SELECT i.id AS product_id, i.product_tenant_id AS owner_id, coalesce(p.supplier_sku, i.supplier_sku) AS supplier_sku,"
    " coalesce(p.category, i.category) AS category, coalesce(p.tracking, i.tracking) AS tracking,"
    f" coalesce(p.base_unit, i.base_unit) AS base_unit, coalesce(CASE WHEN p.id IS NULL THEN {_OF_ITEM} ELSE {_KEYS} END, '[]') AS keys,"
    " v.id AS level_id, coalesce(l.lot_number, '')::text AS lot_number FROM suppliers_stockitem i"
    " LEFT JOIN suppliers_product p ON p.tenant_id = i.tenant_id AND p.id = i.own_product_id AND p.tenant_id = $1"
    " LEFT JOIN suppliers_stocklevel v ON v.tenant_id = i.tenant_id AND v.product_id = i.id AND v.location_id = $2 AND v.tenant_id = $1"
    " LEFT JOIN suppliers_lot l ON l.tenant_id = v.tenant_id AND l.id = v.lot_id AND l.tenant_id = $1"
    f" WHERE i.tenant_id = $1 AND (i.gtins && $3::varchar[] OR i.codes && $4::varchar[] OR p.id IS NOT NULL AND ({_OWN}))",
    row=Found,
)


def line_of(given: Mapping[str, Any]) -> Line:
    """Read a line of the figures."""
    product = given["product"] or {}
    system, code = product.get("system") or "", product.get("code") or ""
    last = _LAST.search(system.strip().rstrip("/"))
    names = {system.strip(), last.group() if last else ""} - {""}
    is_gtin = bool({_GTIN, _OID_OF_GTIN} & {name.upper() for name in names})
    gtin = gtin14(code) or "" if is_gtin else ""
    keys = {code_key(name, code) for name in names} if code and not is_gtin else set()
    return Line(
        UUID(given["id"]), system, code, gtin, tuple(sorted(one for one in keys if _is_precise(one))),
        given["lot_number"] or "", given["quantity"], given["unit"],
    )  # fmt: skip


def _is_precise(key: str) -> bool:
    """A group of substances names no product, a substance may: the lot tells which."""
    system, _, code = key.partition(" ")
    return system != ATC or len(code) == _SUBSTANCE_LENGTH


def find_call(tenant_id: UUID, location_id: UUID, lines: Collection[Line]) -> Call:
    """Return the statement that finds the products of lines, and what lies of them at a place; see `found_of`."""
    gtins, keys = {line.gtin for line in lines if line.gtin}, {key for line in lines for key in line.keys}
    return Call(_FIND, [str(tenant_id), str(location_id), array_literal(sorted(gtins)), array_literal(sorted(keys))])


def found_of(rows: Rows) -> list[Found]:
    """Return what `find_call` has read."""
    return rows.of(Found)


def match(line: Line, found: Sequence[Found]) -> Found | UnbookedReason:
    """Return the one level that a line means, or why there is none."""
    wanted = {f"{_GTIN} {line.gtin}", *line.keys}
    named = [one for one in found if wanted & set(one.keys)]
    if not line.code:
        return UnbookedReason.NO_PRODUCT
    if not named:
        return UnbookedReason.UNKNOWN_PRODUCT
    there = [one for one in named if one.level_id is not None and _is_lot(line, one)]
    if len({one.level_id for one in there}) > 1:
        return UnbookedReason.AMBIGUOUS
    if not there:
        return UnbookedReason.UNKNOWN_LOT if line.lot_number else UnbookedReason.NO_LOT
    return there[0]


def _is_lot(line: Line, one: Found) -> bool:
    """Goods without lots lie at one level of their product, whatever the pharmacy writes of a lot."""
    return one.lot_number == line.lot_number if one.tracking in LOT_TRACKING else not one.lot_number


def base_quantity(line: Line, one: Found) -> int | UnbookedReason:
    """Return a line's whole number of base units, or why there is none."""
    if one.tracking in SERIAL_TRACKING:
        return UnbookedReason.SERIAL_NUMBERS
    measure = _MEASURES.get(line.unit.strip().lower())
    if (measure or one.base_unit) != one.base_unit or (measure is None and one.base_unit in _MEASURES.values()):
        return UnbookedReason.UNIT_MISMATCH
    try:
        quantity = Decimal(line.quantity)
    except InvalidOperation:
        return UnbookedReason.FRACTION
    return int(quantity) if quantity == quantity.to_integral_value() else UnbookedReason.FRACTION
