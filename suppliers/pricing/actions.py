"""Actions on list prices: all prices of a product are replaced at once. Source: contract, supply-price.md "List price"."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import UUID

from core import rows
from core.actor import Actor
from core.canonical import decimal_text
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.model_rows import save_call
from core.pipeline import Call, Statement, run
from ledger import public as ledger
from suppliers.catalog.models import Product
from suppliers.catalog.queries import current_packagings
from suppliers.catalog.rules import check_not_archived
from suppliers.company.today import today_call, today_of

from .events import ProductPriceChanged
from .models import ListPrice, ListPriceTier


class _Stored(NamedTuple):
    """One list price in the form in which prices are compared: dates as ISO 8601 writes them, tiers as `1:4.9 50:4.55`."""

    packaging_id: UUID
    currency: str
    price_base_quantity: int
    valid_from: str
    valid_to: str | None
    tiers: str


_PRESENT = Statement.of(
    "SELECT l.packaging_id, l.currency, l.price_base_quantity, l.valid_from::text, l.valid_to::text,"
    " (SELECT coalesce(string_agg(s.min_quantity || ':' || trim_scale(s.unit_price), ' ' ORDER BY s.min_quantity), '')"
    "  FROM suppliers_listpricetier s WHERE s.tenant_id = $1 AND s.price_id = l.id) AS tiers"
    " FROM suppliers_listprice l JOIN suppliers_packaging k ON k.tenant_id = $1 AND k.id = l.packaging_id"
    " WHERE l.tenant_id = $1 AND l.product_id = $2 AND k.state = 'current'",
    row=_Stored,
)
_DROP_TIERS = Statement.of(
    "DELETE FROM suppliers_listpricetier s USING suppliers_listprice l"
    " WHERE s.tenant_id = $1 AND l.tenant_id = $1 AND l.product_id = $2 AND s.price_id = l.id"
)
_DROP = Statement.of("DELETE FROM suppliers_listprice l WHERE l.tenant_id = $1 AND l.product_id = $2")


@needs_transaction
def replace_prices(actor: Actor, product: Product, data: Mapping[str, Any], at: datetime) -> Product:
    """Replace all list prices of a locked product, which makes its next version; if nothing differs, nothing is written.

    :raises InvalidTransition: the product is archived.
    :raises InvalidFields: a packaging is none of the product's, or two prices of a packaging and currency overlap.
    """
    check_not_archived(product, "replace_prices")
    mine = [str(product.tenant_id), str(product.id)]
    today, present = run([today_call(product.tenant_id, at), Call(_PRESENT, mine)])
    begin = today_of(today).isoformat()
    wanted = [_stored(price, begin) for price in data["prices"]]
    _check(actor, product, wanted)
    if sorted(map(repr, wanted)) == sorted(map(repr, present.of(_Stored))):
        return product
    saved = save_call(product, at=at)
    fact = ProductPriceChanged(supplier_sku=product.supplier_sku, currencies=sorted({one.currency for one in wanted}))
    told = ledger.statements(actor=actor, event=fact, resource_id=product.id, at=at, resource_version=product.version)
    run([saved, Call(_DROP_TIERS, mine), Call(_DROP, mine), *_inserts(product, wanted), *told])
    return product


def _stored(price: Mapping[str, Any], today: str) -> _Stored:
    """Return a price of the body in the form in which prices are compared."""
    ends: date | None = price["valid_to"]
    return _Stored(
        packaging_id=price["packaging_id"],
        currency=price["currency"],
        price_base_quantity=price["price_base_quantity"],
        valid_from=price["valid_from"].isoformat() if price["valid_from"] else today,
        valid_to=ends.isoformat() if ends else None,
        tiers=" ".join(f"{tier['min_quantity']}:{decimal_text(tier['unit_price'])}" for tier in price["tiers"]),
    )


def _check(actor: Actor, product: Product, wanted: Sequence[_Stored]) -> None:
    """Check what a serializer cannot know.

    :raises InvalidFields: names each price that has a foreign packaging, ends before it begins, or overlaps with another.
    """
    known = {packaging.id for packaging in current_packagings(actor, product)}
    errors = [
        FieldError(f"prices.{number}.packaging_id", "unknown_packaging", "The product has no such packaging.")
        for number, price in enumerate(wanted)
        if price.packaging_id not in known
    ]
    errors += [
        FieldError(f"prices.{number}.valid_to", "min_value", "Must be after today, since no valid_from is given.")
        for number, price in enumerate(wanted)
        if price.valid_to and price.valid_to <= price.valid_from
    ]
    if errors := errors or _overlaps(wanted):
        raise InvalidFields(errors=errors)


def _overlaps(wanted: Sequence[_Stored]) -> list[FieldError]:
    """Name each price that begins before an earlier one of its packaging and currency ends; periods are half-open."""
    alike: dict[tuple[UUID, str], list[tuple[str, int]]] = defaultdict(list)
    for number, price in enumerate(wanted):
        alike[price.packaging_id, price.currency].append((price.valid_from, number))
    return [
        FieldError(f"prices.{number}.valid_from", "overlap", "Another price of the packaging and currency holds then.")
        for periods in alike.values()
        for (_, before), (begin, number) in pairwise(sorted(periods))
        if (wanted[before].valid_to or "9999-12-31") > begin
    ]


def _inserts(product: Product, wanted: Sequence[_Stored]) -> list[Call]:
    """Return the statements that insert the prices with their tiers."""
    tenant_id = str(product.tenant_id)
    prices = [
        {
            **price._asdict(),
            "id": str(uuid7()),
            "tenant_id": tenant_id,
            "product_id": str(product.id),
            "on_market": product.on_market,
        }
        for price in wanted
    ]
    tiers = [
        {
            "id": str(uuid7()),
            "tenant_id": tenant_id,
            "price_id": price["id"],
            "min_quantity": int(least),
            "unit_price": amount,
        }
        for price in prices
        for least, _, amount in (tier.partition(":") for tier in str(price.pop("tiers")).split())
    ]
    return [rows.insert_all(ListPrice, prices), rows.insert_all(ListPriceTier, tiers)] if prices else []
