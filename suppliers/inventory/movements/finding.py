"""Looking up what lines name: the tenant's own products and, of a buyer, what it holds and what it is offered.

Source: contract, supply-shelf.md "Whose stock".
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import product
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.conditions import TENANT
from core.db import bind_call, needs_transaction
from core.pipeline import Call, Statement, run
from suppliers.inventory.items.offered import (
    Offered,
    Origin,
    Owner,
    OwnersUnknown,
    degrees,
    item_of,
    supplier_calls,
)
from suppliers.inventory.queries import WITHIN

from .goods import Goods, Place, Product

_BUYERS: Final = frozenset({"provider", "pharmacy"})


class _Named(NamedTuple):
    product_id: UUID
    gtin: str


# Each way to name a product finds ids by an index of its own; joined by OR, all products of the tenant would be read.
_PRODUCTS = Statement.of(
    "SELECT p.id, p.tenant_id AS owner_id, p.supplier_sku, p.category, p.tracking, p.expiry_required,"
    " p.storage_min_c AS min_c, p.storage_max_c AS max_c FROM suppliers_product p"
    " WHERE p.tenant_id = $1 AND p.archived_at IS NULL AND p.id = ANY(ARRAY(SELECT unnest($2::uuid[])"
    " UNION SELECT s.id FROM suppliers_product s WHERE s.tenant_id = $1 AND s.archived_at IS NULL AND s.supplier_sku = ANY($3::text[])"
    " UNION SELECT k.product_id FROM suppliers_packaging k"
    " WHERE k.tenant_id = $1 AND k.gtin = ANY($4::text[]) AND k.state = 'current'))",
    row=Product,
)
_GTINS = Statement.of(
    "SELECT k.product_id, k.gtin FROM suppliers_packaging k"
    " WHERE k.tenant_id = $1 AND k.gtin = ANY($2::text[]) AND k.state = 'current'",
    row=_Named,
)
# An item `i` of another's product, as `Product` has it.
ITEM_COLUMNS: Final = (
    "i.id, i.product_tenant_id AS owner_id, i.supplier_sku, i.category, i.tracking, i.expiry_required,"
    " i.storage_min_c AS min_c, i.storage_max_c AS max_c"
)
# GTINs of items stand in arrays, for which there is no index under row security: where none is named, no item is read.
HELD_ITEMS = Statement.of(
    f"SELECT {ITEM_COLUMNS} FROM suppliers_stockitem i"
    " WHERE i.tenant_id = $1 AND i.own_product_id IS NULL AND i.id = ANY(ARRAY(SELECT unnest($2::uuid[])"
    " UNION SELECT h.id FROM suppliers_stockitem h WHERE h.tenant_id = $1 AND h.own_product_id IS NULL"
    " AND $3::varchar[] <> '{}' AND h.gtins && $3::varchar[]))",
    row=Product,
)
_GTINS_OF_ITEMS = Statement.of(
    "SELECT i.id AS product_id, g.gtin::text AS gtin FROM suppliers_stockitem i CROSS JOIN LATERAL unnest(i.gtins) AS g(gtin)"
    " WHERE i.tenant_id = $1 AND i.own_product_id IS NULL AND $2::varchar[] <> '{}' AND i.gtins && $2::varchar[]",
    row=_Named,
)
_PLACES = Statement.of(
    "SELECT s.location_id, s.sellable, s.min_c, s.max_c FROM suppliers_stockplace s"
    " JOIN organizations_location l ON l.tenant_id = s.tenant_id AND l.id = s.location_id AND l.tenant_id = $1"
    " WHERE s.tenant_id = $1 AND s.location_id = ANY($2::uuid[]) AND l.status = 'active'"
    f" AND {WITHIN.over('s').sql.replace(TENANT, '$1')}",
    row=Place,
)


def find_goods(actor: Actor, lines: Sequence[Mapping[str, Any]], places: Collection[UUID]) -> Goods:
    """Look up what lines name, in one trip; places out of the membership's reach are left out."""
    tenant_id = str(actor.tenant_id)
    ids, skus, gtins = ({line[name] for line in lines if line[name]} for name in ("product_id", "supplier_sku", "gtin"))
    by_id, by_gtin = array_literal(ids), array_literal(gtins)
    calls = [
        Call(_PLACES, [tenant_id, array_literal(places)]),
        Call(_PRODUCTS, [tenant_id, by_id, array_literal(skus), by_gtin]),
        Call(_GTINS, [tenant_id, by_gtin]),
    ]
    if _buys(actor):
        calls += [Call(HELD_ITEMS, [tenant_id, by_id, by_gtin]), Call(_GTINS_OF_ITEMS, [tenant_id, by_gtin])]
    found, *rows = run(calls)
    products = [one for some in rows[::2] for one in some.of(Product)]
    named = [one for some in rows[1::2] for one in some.of(_Named)]
    own = {one.supplier_sku: one for one in rows[0].of(Product)}
    there = {one.location_id: one for one in found.of(Place)}
    return Goods({one.id: one for one in products}, own, _by_gtin(products, named), there)


def _buys(actor: Actor) -> bool:
    return bool(_BUYERS & actor.tenant_kinds)


def _by_gtin(products: Iterable[Product], named: Iterable[_Named]) -> dict[str, list[Product]]:
    by_id, found = {one.id: one for one in products}, defaultdict[str, list[Product]](list)
    for one in dict.fromkeys(named):
        if one.product_id in by_id:
            found[one.gtin].append(by_id[one.product_id])
    return dict(found)


@needs_transaction
def with_offered(
    actor: Actor, goods: Goods, lines: Sequence[Mapping[str, Any]], at: datetime, owners: Sequence[Owner] | None
) -> Goods:
    """Add what a buyer comes to hold by lines that it holds nothing of yet, and the suppliers' lots of all that comes.

    What it sees is read bound to each supplier; what it holds and sees no more stays as it was kept. `owners` is what
    the market told of the products whose supplier no line names.

    :raises OwnersUnknown: such lines are there, and the market was not asked.
    """
    if not _buys(actor):
        return goods
    wanted = _wanted(actor.tenant_id, goods, lines, owners)
    if not wanted:
        return goods
    lots = {line["lot_number"] for line in lines if line["lot_number"]}
    suppliers = sorted(wanted)
    calls = [
        call
        for one in suppliers
        for call in (bind_call(one), *supplier_calls(one, *wanted[one], lots, actor.tenant_id, at))
    ]
    *rows, _ = run([*calls, bind_call(actor.tenant_id)])
    items = [item_of(one) for some in rows[1::3] for one in some.of(Offered)]
    origins = {(one.product_id, one.lot_number): one for some in rows[2::3] for one in some.of(Origin)}
    return joined_goods(goods, items, origins)


Wanted = dict[UUID, tuple[set[UUID], set[str]]]  # by supplier: products and GTINs


def _wanted(
    tenant_id: UUID, goods: Goods, lines: Sequence[Mapping[str, Any]], owners: Sequence[Owner] | None
) -> Wanted:
    """Return what is to be read of each supplier.

    :raises OwnersUnknown: as `with_offered`.
    """
    found: Wanted = defaultdict(lambda: (set(), set()))
    unknown: list[Mapping[str, Any]] = []
    for line in (one for one in lines if not one["supplier_sku"]):
        if held := goods.named(line):
            for one in held:
                found[one.owner_id][0].add(one.id)
        elif line["supplier_id"]:
            _add(found, line["supplier_id"], line)
        else:
            unknown.append(line)
    if unknown and owners is None:
        raise OwnersUnknown(*({one[name] for one in unknown if one[name]} for name in ("product_id", "gtin")))
    for line, owner in product(unknown, owners or ()):
        if owner.gtin == (line["gtin"] or "") and line["product_id"] in (None, owner.product_id):
            _add(found, owner.supplier_id, line)
    found.pop(tenant_id, None)
    return found


def _add(found: Wanted, supplier_id: UUID, line: Mapping[str, Any]) -> None:
    products, gtins = found[supplier_id]
    if line["product_id"]:
        products.add(line["product_id"])
    else:
        gtins.add(line["gtin"])


def joined_goods(goods: Goods, items: Sequence[dict[str, Any]], origins: Mapping[tuple[UUID, str], Origin]) -> Goods:
    """Return the goods with the items; what is held keeps the way in which it is tracked."""
    products, gtins = dict(goods.products), {name: list(some) for name, some in goods.gtins.items()}
    for item in items:
        key = UUID(item["id"])
        held = products.get(key)
        offered = Product(
            key, UUID(item["product_tenant_id"]), item["supplier_sku"], item["category"],
            held.tracking if held else item["tracking"], item["expiry_required"], degrees(item["storage_min_c"]),
            degrees(item["storage_max_c"]),
        )  # fmt: skip
        products[key] = offered
        for gtin in item["gtins"]:
            others = [one for one in gtins.get(gtin, ()) if one.id != key]
            gtins[gtin] = [*others, offered]
    return replace(goods, products=products, gtins=gtins, items=items, origins=origins)
