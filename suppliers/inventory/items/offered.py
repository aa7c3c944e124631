"""Products of suppliers as a buyer comes to hold them: what the market tells of them, and the snapshot that is kept.

Who sees which product the marketplace knows, which stands above this room: it registers its two questions by `ask`.
Source: contract, supply-shelf.md "Whose stock" and supply.md 3.3.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement

ATC = "ATC"


class Offered(NamedTuple):
    """A product that the buyer sees, or has come to hold, as the columns of its item."""

    item: Any


class Owner(NamedTuple):
    """Whose a product on the market is; `gtin` is the name by which it was found, "" for its id."""

    product_id: UUID
    supplier_id: UUID
    gtin: str


class Origin(NamedTuple):
    """A supplier's lot, from which goods of a buyer come; `expiry_date` in ISO form."""

    id: UUID
    supplier_id: UUID
    product_id: UUID
    lot_number: str
    expiry_date: str | None
    manufacture_date: str | None
    status: str


class Questions(NamedTuple):
    """What is asked of the marketplace.

    `offered` (supplier, products, GTINs, buyer, instant) returns the statement that reads what the buyer sees of one supplier,
    as rows of `Offered`, for a transaction bound to the supplier. `owners` (buyer, products, GTINs) returns the statements
    by which a transaction that writes nothing finds the suppliers of products; the last of them gives rows of `Owner`.
    """

    offered: Callable[[UUID, Collection[UUID], Collection[str], UUID, datetime], Call]
    owners: Callable[[UUID, Collection[UUID], Collection[str]], Sequence[Call]]


class OwnersUnknown(Exception):
    """Lines name products that the buyer does not hold, without their supplier; nothing is written.

    It is no refusal: the view asks the market, and begins anew.
    """

    def __init__(self, products: Collection[UUID], gtins: Collection[str]) -> None:
        super().__init__("whose products are these")
        self.products, self.gtins = products, gtins


_asked: list[Questions] = []

# What may be shared: the supplier's lots, held until the receipt is written. A recall waits for it, or it sees the recall.
_ORIGINS = Statement.of(
    "SELECT l.id, l.tenant_id AS supplier_id, l.product_id, l.lot_number, l.expiry_date::text, l.manufacture_date::text, l.status"
    " FROM suppliers_lot l WHERE l.tenant_id = $1 AND l.lot_number = ANY($4::text[]) AND l.product_id = ANY(ARRAY(SELECT unnest($2::uuid[])"
    " UNION SELECT k.product_id FROM suppliers_packaging k WHERE k.tenant_id = $1 AND k.gtin = ANY($3::text[])"
    " AND k.state = 'current')) ORDER BY l.id FOR SHARE",
    row=Origin,
)
_KEPT = ("base_unit", "tracking")  # the goods were counted by them
_RENEWED = (
    "supplier_sku", "name", "category", "kind", "expiry_required", "min_remaining_shelf_life_days", "storage_min_c",
    "storage_max_c", "gtins", "codes", "packagings",
)  # fmt: skip
_COLUMNS = ("product_tenant_id", *_KEPT, *_RENEWED)
_HOLD = Statement.of(
    f"INSERT INTO suppliers_stockitem AS i (id, tenant_id, created_at, updated_at, version, {', '.join(_COLUMNS)})"
    f" SELECT g.id, $1, $3, $3, 1, {', '.join(f'g.{one}' for one in _COLUMNS)}"
    " FROM json_populate_recordset(NULL::suppliers_stockitem, $2) g ORDER BY g.id"
    " ON CONFLICT (tenant_id, id) DO UPDATE SET version = i.version + 1, updated_at = excluded.updated_at,"
    f" {', '.join(f'{one} = excluded.{one}' for one in _RENEWED)}"
    f" WHERE i.tenant_id = $1 AND ({', '.join(f'i.{one}' for one in _RENEWED)})"
    f" IS DISTINCT FROM ({', '.join(f'excluded.{one}' for one in _RENEWED)}) RETURNING i.id::text"
)
_HOLD_OWN = Statement.of(
    "INSERT INTO suppliers_stockitem (id, tenant_id, created_at, updated_at, version, product_tenant_id, own_product_id,"
    " supplier_sku, name, category, kind, base_unit, tracking, expiry_required, gtins, codes, packagings)"
    " SELECT p.id, $1, $3, $3, 1, $1, p.id, '', '', '', '', '', '', false, '{}', '{}', '[]' FROM suppliers_product p"
    " WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[]) AND NOT EXISTS (SELECT 1 FROM suppliers_stockitem i"
    " WHERE i.tenant_id = $1 AND i.id = p.id) ORDER BY p.id ON CONFLICT DO NOTHING RETURNING id::text"
)
# What an item `i` holds of another's product, as `SNAPSHOT` and `item_of` have it.
HELD: Final = "json_build_object(" + ", ".join(f"'{one}', i.{one}" for one in _RENEWED) + ")"
# Of a product `p` of the tenant $1: the columns of an item that another tenant holds of it.
SNAPSHOT = """
json_build_object('id', p.id, 'product_tenant_id', p.tenant_id, 'supplier_sku', p.supplier_sku, 'name', p.name,
  'category', p.category, 'kind', p.kind, 'base_unit', p.base_unit, 'tracking', p.tracking,
  'expiry_required', p.expiry_required, 'min_remaining_shelf_life_days', p.min_remaining_shelf_life_days,
  'storage_min_c', p.storage_min_c, 'storage_max_c', p.storage_max_c, 'national_codes', p.national_codes,
  'atc', p.classifications ->> 'atc',
  'packagings', (SELECT coalesce(json_agg(json_build_object('id', k.id, 'level', k.level, 'name', k.name,
    'units_per_pack', k.units_per_pack, 'gtin', k.gtin) ORDER BY k.position, k.id), '[]') FROM suppliers_packaging k
    WHERE k.tenant_id = $1 AND k.product_id = p.id AND k.state = 'current'))
"""

_DELIVERED = Statement.of(
    f"SELECT {SNAPSHOT} AS item FROM suppliers_product p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[]) AND p.kind <> 'service' ORDER BY p.id",
    row=Offered,
)


def ask(questions: Questions) -> None:
    """Register what is asked of the marketplace; the last registration holds."""
    _asked[:] = [questions]


def owners_calls(buyer_id: UUID, unknown: OwnersUnknown) -> Sequence[Call]:
    """Return the statements that find the suppliers of products, for a transaction that writes nothing; see `owners_of`."""
    return _asked[0].owners(buyer_id, unknown.products, unknown.gtins)


def owners_of(found: Rows) -> list[Owner]:
    """Return whose the products are that the buyer sees."""
    return found.of(Owner)


def supplier_calls(
    supplier_id: UUID,
    products: Collection[UUID],
    gtins: Collection[str],
    lots: Collection[str],
    buyer_id: UUID,
    at: datetime,
) -> list[Call]:
    """Return the statements that read, bound to a supplier, what the buyer sees of its products, and hold their lots.

    The rows are those of `Offered` and of `Origin`.
    """
    given = [str(supplier_id), array_literal(products), array_literal(gtins)]
    return [
        _asked[0].offered(supplier_id, products, gtins, buyer_id, at),
        Call(_ORIGINS, [*given, array_literal(lots)]),
    ]


def delivered_calls(supplier_id: UUID, products: Collection[UUID], lots: Collection[str]) -> list[Call]:
    """As `supplier_calls`, of what the supplier has delivered, whether the buyer still sees it or not."""
    given = [str(supplier_id), array_literal(products)]
    return [Call(_DELIVERED, given), Call(_ORIGINS, [*given, "{}", array_literal(lots)])]


def item_of(offered: Offered) -> dict[str, Any]:
    """Return the columns of the item."""
    item = dict(offered.item)
    codes, atc = item.pop("national_codes"), item.pop("atc")
    keys = [code_key(one["system"], one["value"]) for one in codes]
    item["codes"] = sorted({*keys, *([code_key(ATC, atc)] if atc else [])})
    item["gtins"] = sorted({one["gtin"] for one in item["packagings"] if one["gtin"]})
    return item


def code_key(system: str, value: str) -> str:
    """Write a code and the short name of its system as an item keeps them."""
    return f"{system.strip().upper()} {value.strip().upper()}"


def is_same(item: Mapping[str, Any], held: Mapping[str, Any]) -> bool:
    """Tell whether what is renewed of an item is what a tenant holds; `held` is what `HELD` has read."""
    return all(item[name] == held[name] for name in _RENEWED)


def hold_calls(tenant_id: UUID, own: Collection[UUID], others: Sequence[Mapping[str, Any]], at: datetime) -> list[Call]:
    """Return the statements by which a tenant comes to hold products: its own, and items of others with their snapshots."""
    tenant, moment = str(tenant_id), at.isoformat()
    calls = [Call(_HOLD_OWN, [tenant, array_literal(own), moment])] if own else []
    return [*calls, Call(_HOLD, [tenant, orjson.dumps(others), moment])] if others else calls


def degrees(value: Any) -> Decimal | None:
    """Read a temperature of a snapshot."""
    return None if value is None else Decimal(str(value))
