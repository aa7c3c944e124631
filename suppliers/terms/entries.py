"""Entries of price lists: found and written in sets, so that 10,000 take as many statements as one."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from core.arrays import array_literal, numbers
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.pipeline import Call, Statement, run
from suppliers.pricing.amounts import shown

from .models import PriceList
from .states import EntriesMode


class _Product(NamedTuple):
    """A product of the supplier that a body names, by its id or its SKU."""

    id: UUID
    supplier_sku: str
    is_archived: bool


class _Packaging(NamedTuple):
    """A packaging of such a product."""

    id: UUID
    product_id: UUID
    is_current: bool


# OFFSET 0 keeps the order: first what is named, then each row by its key.
_PRODUCTS_BY_ID = Statement.of(
    "SELECT p.* FROM unnest($2::uuid[]) AS g(id) CROSS JOIN LATERAL (SELECT t.id, t.supplier_sku,"
    " t.archived_at IS NOT NULL AS is_archived FROM suppliers_product t WHERE t.tenant_id = $1 AND t.id = g.id OFFSET 0) p",
    row=_Product,
)
_PRODUCTS_BY_SKU = Statement.of(
    "SELECT p.* FROM unnest($2::text[]) AS g(sku) CROSS JOIN LATERAL (SELECT t.id, t.supplier_sku, false AS is_archived"
    " FROM suppliers_product t WHERE t.tenant_id = $1 AND t.supplier_sku = g.sku AND t.archived_at IS NULL OFFSET 0) p",
    row=_Product,
)
_PACKAGINGS = Statement.of(
    "SELECT k.* FROM unnest($2::uuid[]) AS g(id) CROSS JOIN LATERAL (SELECT t.id, t.product_id,"
    " t.state = 'current' AS is_current FROM suppliers_packaging t WHERE t.tenant_id = $1 AND t.product_id = g.id OFFSET 0) k",
    row=_Packaging,
)
_KEEP_ONLY = Statement.of(
    "DELETE FROM suppliers_pricelistentry e WHERE e.tenant_id = $1 AND e.price_list_id = $2"
    " AND e.packaging_id NOT IN (SELECT unnest($3::uuid[])) RETURNING 1"
)
_TAKE_OUT = Statement.of(
    "DELETE FROM suppliers_pricelistentry e WHERE e.tenant_id = $1 AND e.price_list_id = $2"
    " AND e.packaging_id = ANY($3::uuid[]) RETURNING 1"
)
_PUT = Statement.of(
    "INSERT INTO suppliers_pricelistentry AS e (id, tenant_id, price_list_id, product_id, packaging_id,"
    " price_base_quantity, tiers)"
    " SELECT g.id, $1::uuid, $2::uuid, g.product_id, g.packaging_id, g.base, g.tiers::jsonb"
    " FROM unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::int[], $7::text[]) AS g(id, product_id, packaging_id, base, tiers)"
    " ON CONFLICT (tenant_id, price_list_id, packaging_id) DO UPDATE SET price_base_quantity = excluded.price_base_quantity,"
    " tiers = excluded.tiers, version = e.version + 1, updated_at = now()"
    " WHERE (e.price_base_quantity, e.tiers) IS DISTINCT FROM (excluded.price_base_quantity, excluded.tiers) RETURNING 1"
)
_COUNT = Statement.of(
    "SELECT count(*)::text FROM suppliers_pricelistentry e WHERE e.tenant_id = $1 AND e.price_list_id = $2"
)


class Entry(NamedTuple):
    """An entry of the body with the product and the packaging that it names."""

    product_id: UUID
    packaging_id: UUID
    price_base_quantity: int
    tiers: Sequence[Mapping[str, Any]]
    remove: bool


def found_entries(tenant_id: UUID, given: Sequence[Mapping[str, Any]]) -> list[Entry]:
    """Find what the entries of a body name.

    :raises InvalidFields: names each entry whose product or packaging there is not, or that is there twice.
    """
    if not given:
        return []
    known = _Known(tenant_id, given)
    found: list[Entry] = []
    errors: list[FieldError] = []
    seen: set[UUID] = set()
    for number, one in enumerate(given):
        entry = known.entry(one)
        if isinstance(entry, Entry) and entry.packaging_id in seen:
            entry = "", "duplicate", "Another entry has this packaging."
        if isinstance(entry, Entry):
            seen.add(entry.packaging_id)
            found.append(entry)
        else:
            member, code, message = entry
            errors.append(FieldError(f"entries.{number}{member}", code, message))
    if errors:
        raise InvalidFields(errors=errors)
    return found


class _Known:
    """The products that a body names, with their packagings."""

    def __init__(self, tenant_id: UUID, given: Sequence[Mapping[str, Any]]) -> None:
        mine = str(tenant_id)
        by_id, by_sku = run(
            [
                Call(_PRODUCTS_BY_ID, [mine, array_literal({one["product_id"] for one in given} - {None})]),
                Call(_PRODUCTS_BY_SKU, [mine, array_literal({one["supplier_sku"] for one in given} - {"", None})]),
            ]
        )
        self.by_id = {one.id: one for one in by_id.of(_Product)}
        self.by_sku = {one.supplier_sku: one for one in by_sku.of(_Product)}
        products = {one.id for one in (*self.by_id.values(), *self.by_sku.values())}
        (packagings,) = run([Call(_PACKAGINGS, [mine, array_literal(products)])])
        self.packagings: dict[UUID, dict[UUID, bool]] = defaultdict(dict)
        for one in packagings.of(_Packaging):
            self.packagings[one.product_id][one.id] = one.is_current

    def entry(self, one: Mapping[str, Any]) -> Entry | tuple[str, str, str]:
        """Return the entry of a body, or the member, the code and the message of what is wrong with it.

        What is to be taken out may be of a product that is archived, or of a packaging that is gone.
        """
        goes, named = one["remove"], one["packaging_id"]
        product = self.by_id.get(one["product_id"]) or self.by_sku.get(one["supplier_sku"])
        if product is None or (product.is_archived and not goes):
            return "", "unknown_product", "There is no such product."
        packagings = self.packagings[product.id]
        choices = [key for key, is_current in packagings.items() if is_current or (goes and key == named)]
        if named is None and len(choices) > 1:
            return ".packaging_id", "required", "The product has several packagings; name one."
        if named is None and choices:
            named = choices[0]
        if named not in choices:
            return ".packaging_id", "unknown_packaging", "The product has no such packaging."
        return Entry(product.id, named, one["price_base_quantity"], one["tiers"], goes)


def write_entries(price_list: PriceList, entries: Sequence[Entry], mode: str) -> tuple[bool, int]:
    """Write the entries of a locked list; return whether any differs, and how many there are now.

    In the mode `replace` the entries that are not named are taken out.
    """
    mine = [str(price_list.tenant_id), str(price_list.id)]
    kept = [one for one in entries if not one.remove]
    going = entries if mode == EntriesMode.MERGE else kept
    dropped = Call(
        _TAKE_OUT if mode == EntriesMode.MERGE else _KEEP_ONLY,
        [*mine, array_literal(one.packaging_id for one in going if one.remove or mode == EntriesMode.REPLACE)],
    )
    columns = [
        array_literal(uuid7() for _ in kept),
        array_literal(one.product_id for one in kept),
        array_literal(one.packaging_id for one in kept),
        numbers(one.price_base_quantity for one in kept),
        array_literal(stored_tiers(one) for one in kept),
    ]
    gone, put, counted = run([dropped, Call(_PUT, [*mine, *columns]), Call(_COUNT, mine)])
    return bool(len(gone) or len(put)), int(counted.value() or 0)


def stored_tiers(entry: Entry) -> str:
    """Write the tiers as they are stored and answered: amounts as decimal strings."""
    return orjson.dumps(
        [{"min_quantity": one["min_quantity"], "unit_price": shown(one["unit_price"])} for one in entry.tiers]
    ).decode()
