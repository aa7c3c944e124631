"""A buyer's request for stock: each line is resolved to an offer that the buyer may see, then all of it is reserved."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import Conflict, FieldError, InvalidFields
from core.ids import uuid7
from core.pipeline import ReadBack, run
from organizations.public import PartyClosed
from suppliers.agreements.refusals import SelfTrade
from suppliers.company.settings import settings_call, settings_of
from suppliers.inventory.levels import levels_of_products, read_levels
from suppliers.inventory.models import Reservation
from suppliers.inventory.reservations.acts import ttl_of
from suppliers.inventory.reservations.reserving import Line, Request, reserve
from suppliers.inventory.states import Unit
from suppliers.marketplace import queries as market
from suppliers.marketplace.display import shown
from suppliers.marketplace.queries import SeenOffer, Shop
from suppliers.marketplace.refusals import OfferNotAvailable

from .promising import check_policies, check_quantities


class SupplierNotQualified(Conflict):
    """The supplier may take no new orders now."""

    code = "supplier_not_qualified"
    title = "The supplier takes no new orders now."


@needs_transaction
def reserve_stock(
    actor: Actor,
    data: Mapping[str, Any],
    at: datetime,
    reading: ReadBack | None = None,
    *,
    group_id: UUID | None = None,
) -> list[Reservation]:
    """Reserve what the body asks of one supplier; `group_id` is what the reservations of the request have in common.

    :raises SelfTrade: the supplier is the caller's own tenant.
    :raises InvalidFields: there is no such supplier, or it keeps nothing reserved for so long.
    :raises SupplierNotQualified, PartyClosed: the supplier is not active, or not qualified.
    :raises OfferNotAvailable: the caller sees no offer of a line's product and packaging.
    :raises OrderQuantityInvalid: the offer cannot be ordered in such quantities.
    :raises InsufficientStock, ReservationLimit: as `inventory.reservations.reserving.reserve`.
    """
    supplier_id: UUID = data["supplier_id"]
    if supplier_id == actor.tenant_id:
        raise SelfTrade
    products = sorted({line["product_id"] for line in data["items"]})
    asked = [
        market.shop_call(supplier_id),
        settings_call(supplier_id, actor.tenant_id),
        market.offers_call(supplier_id, products, actor.tenant_id, at),
    ]
    stock = levels_of_products(supplier_id, products, at, buyer_id=actor.tenant_id)
    _, shop, stored, seen, _, levels, promised = run([bind_call(supplier_id), *asked, *stock])
    _check_open(market.shop_of(shop))
    settings = settings_of(stored)
    ttl = ttl_of(data, settings)
    request = Request(
        supplier_id=supplier_id,
        lines=_promised(supplier_id, data["items"], market.offers_of(seen), at),
        needed_date=data["needed_date"],
        ttl=ttl,
        cap_percent=settings["reservation_cap_percent"],
        group_id=group_id or uuid7(),
    )
    return reserve(actor, request, read_levels(levels, promised), at, reading)


def _check_open(shop: Shop | None) -> None:
    """Refuse to trade with whoever takes no orders.

    :raises InvalidFields: there is no such supplier.
    :raises SupplierNotQualified, PartyClosed: it is not active, or not qualified.
    """
    if shop is None or not shop.is_supplier:
        error = FieldError("supplier_id", "unknown_supplier", "There is no such supplier.")
        raise InvalidFields(errors=[error])
    if shop.status == "closed":
        raise PartyClosed
    if shop.status != "active" or not shop.is_qualified:
        raise SupplierNotQualified


def _promised(
    supplier_id: UUID, items: Sequence[Mapping[str, Any]], offers: Sequence[SeenOffer], at: datetime
) -> list[Line]:
    """Resolve each line to an offer that promises it.

    :raises OfferNotAvailable, OrderQuantityInvalid, InsufficientStock: as `reserve_stock`.
    """
    chosen = _chosen(items, offers)
    lines = [_line(item, offer) for item, offer in zip(items, chosen, strict=True)]
    check_quantities(lines, chosen)
    check_policies(supplier_id, lines, chosen, at)
    return lines


def _chosen(items: Sequence[Mapping[str, Any]], offers: Sequence[SeenOffer]) -> list[SeenOffer]:
    """Find the offer of each line: the one that it names, or the first of its product and packaging.

    :raises OfferNotAvailable: the buyer sees none.
    """
    chosen, errors = [], []
    for number, item in enumerate(items):
        offer = next((one for one in offers if _suits(one, item)), None)
        if offer is None:
            message = "You are offered no such product and packaging."
            errors.append(FieldError(f"items.{number}", OfferNotAvailable.code, message))
        else:
            chosen.append(offer)
    if errors:
        raise OfferNotAvailable(errors=errors)
    return chosen


def _suits(offer: SeenOffer, item: Mapping[str, Any]) -> bool:
    return (
        offer.product_id == item["product_id"]
        and item["packaging_id"] in (None, offer.packaging_id)
        and item["offer_id"] in (None, offer.id)
    )


def _line(item: Mapping[str, Any], offer: SeenOffer) -> Line:
    is_packs = item["unit"] == Unit.PACK
    days = item["min_remaining_shelf_life_days"]
    return Line(
        product_id=offer.product_id,
        packaging_id=offer.packaging_id,
        offer_id=offer.id,
        unit=item["unit"],
        units_per_pack=offer.units_per_pack,
        base_quantity=item["quantity"] * (offer.units_per_pack if is_packs else 1),
        days=offer.days if days is None else days,
        shown=partial(shown, display=offer.stock_display, cap=offer.cap),
    )
