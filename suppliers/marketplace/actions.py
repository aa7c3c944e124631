"""Actions on offers: draft, replace, publish, hide, and say who may see them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core import rows
from core.actor import Actor
from core.canonical import decimal_text
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, InvalidTransition, NotFound
from core.pipeline import run
from ledger import public as ledger
from suppliers.catalog import availability
from suppliers.catalog.market import market_calls
from suppliers.catalog.models import Packaging
from suppliers.catalog.refusals import FieldLocked, ModerationHold
from suppliers.catalog.states import PackagingState

from .audiences import Choice, audience_of, unknown
from .events import (
    OfferAllocated,
    OfferCreated,
    OfferEvent,
    OfferPublished,
    OfferUnpublished,
    OfferUpdated,
    OfferVisibilityChanged,
)
from .models import Offer, OfferExclusion
from .publishing import check_complete
from .states import EVERYBODY, OfferStatus, VisibilityMode

_FIXED = ("product_id", "packaging_id")
_NAMED = {
    "tenant_ids": "tenant",
    "organization_ids": "organization",
    "group_codes": "group",
    "excluded_tenant_ids": "tenant",
}
_LIMIT = {"limit_quantity": "quantity", "limit_period_days": "period_days", "limit_until": "until"}
_OF_STOCK = (OfferPublished, OfferUnpublished, OfferUpdated)  # an offer made to order keeps its product on backorder


@needs_transaction
def locked_offer(actor: Actor, offer_id: UUID) -> Offer:
    """Return the tenant's offer, locked until the transaction ends.

    :raises NotFound: the tenant has no such offer.
    """
    found: Offer | None = Offer.objects.of(actor).select_for_update().filter(pk=offer_id).first()
    if found is None:
        raise NotFound("No such offer.")
    return found


@needs_transaction
def create_offer(actor: Actor, data: Mapping[str, Any], at: datetime) -> Offer:
    """Draft an offer, which nobody sees yet.

    :raises InvalidFields: the product has no such packaging.
    """
    offer = Offer(tenant_id=actor.tenant_id, created_at=at, updated_at=at)
    offer.audience_id = offer.id
    _check_packaging(actor, data)
    offer.assign(_columns(data))
    offer.save(force_insert=True)
    record(actor, offer, OfferCreated, at)
    if offer.limit_quantity:
        record(actor, offer, OfferAllocated, at)
    return offer


@needs_transaction
def replace_offer(actor: Actor, offer: Offer, data: Mapping[str, Any], at: datetime) -> Offer:
    """Replace a locked offer; `status` archived ends it for good.

    :raises InvalidFields: the product has no such packaging.
    :raises InvalidTransition: the offer is archived, or publishing and hiding have addresses of their own.
    :raises FieldLocked: product and packaging stay once the offer was published.
    :raises OfferIncomplete: it is published, and would have no price any more.
    :raises ModerationHold: staff hold the offer, which is not to be archived, nor to name another packaging.
    """
    wanted = data.get("status") or offer.status
    if offer.status == OfferStatus.ARCHIVED or wanted not in (offer.status, OfferStatus.ARCHIVED):
        raise InvalidTransition(state=offer.status, action="replace", allowed=[])
    if offer.held_at is not None and (wanted != offer.status or data["packaging_id"] != offer.packaging_id):
        raise ModerationHold(reason=offer.hold_reason)
    if offer.status != OfferStatus.DRAFT and (
        locked := [name for name in _FIXED if data[name] != getattr(offer, name)]
    ):
        raise FieldLocked(fields=locked)
    _check_packaging(actor, data)
    changed = offer.assign(_columns(data))
    if wanted != offer.status:
        offer.archive()
        changed.append("status")
    if changed:
        offer.save_version(*changed, at=at)
        if offer.status == OfferStatus.PUBLISHED and "tiers" in changed:
            check_complete(offer, "price_resolvable")
        show(offer)
        record(actor, offer, OfferUpdated, at)
        if _LIMIT.keys() & {*changed}:
            record(actor, offer, OfferAllocated, at)
    return offer


@needs_transaction
def publish_offer(actor: Actor, offer: Offer, at: datetime) -> Offer:
    """Show a locked offer to its audience.

    :raises InvalidTransition: it is published or archived.
    :raises OfferIncomplete: something is missing.
    :raises OfferExists: another offer of the packaging is published or paused.
    """
    offer.publish()
    check_complete(offer)
    offer.save_version("status", at=at)
    show(offer)
    record(actor, offer, OfferPublished, at)
    return offer


@needs_transaction
def unpublish_offer(actor: Actor, offer: Offer, at: datetime) -> Offer:
    """Hide a locked offer; what was ordered or reserved by it goes on.

    :raises InvalidTransition: it is not published.
    """
    offer.unpublish()
    offer.save_version("status", at=at)
    show(offer)
    record(actor, offer, OfferUnpublished, at)
    return offer


@needs_transaction
def set_visibility(actor: Actor, offer: Offer, data: Mapping[str, Any], at: datetime) -> Offer:
    """Say who may see a locked offer, and how they are told of its stock; all lists are replaced.

    :raises InvalidFields: there is no such tenant or organization, or the supplier's profile has no such group.
    :raises InvalidTransition: the offer is archived.
    """
    if offer.status == OfferStatus.ARCHIVED:
        raise InvalidTransition(state=offer.status, action="set_visibility", allowed=[])
    _check_named(offer, data)
    offer.visibility_mode = data["mode"]
    offer.audience_id = _audience(offer, data)
    offer.stock_display, offer.cap = data["stock_display"], data["cap"]
    offer.save_version("visibility_mode", "audience_id", "stock_display", "cap", at=at)
    OfferExclusion.objects.filter(tenant_id=offer.tenant_id, offer_id=offer.id).delete()
    excluded = [
        {"tenant_id": str(offer.tenant_id), "offer_id": str(offer.id), "member_tenant_id": str(one)}
        for one in sorted(set(data["excluded_tenant_ids"]))
    ]
    if excluded:
        run([rows.insert_all(OfferExclusion, excluded)])
    show(offer)
    record(actor, offer, OfferVisibilityChanged, at)
    return offer


def show(offer: Offer) -> None:
    """Bring up to date what the market reads of the offer's product."""
    run(market_calls(offer.tenant_id, [offer.product_id]))


def _columns(data: Mapping[str, Any]) -> dict[str, Any]:
    tiers = sorted(data["tiers"], key=lambda tier: int(tier["min_quantity"]))
    limit = data["allocation"] or {}
    found = {name: data[name] for name in Offer.WRITABLE if name not in _LIMIT}
    return found | {
        **{column: limit.get(name) for column, name in _LIMIT.items()},
        "title": data["title"] or "",
        "currency": data["currency"] or "",
        "tiers": [
            {"min_quantity": tier["min_quantity"], "unit_price": decimal_text(tier["unit_price"])} for tier in tiers
        ],
    }


def _check_packaging(actor: Actor, data: Mapping[str, Any]) -> None:
    known = Packaging.objects.of(actor).filter(
        pk=data["packaging_id"], product_id=data["product_id"], state=PackagingState.CURRENT
    )
    if not known.exists():
        error = FieldError("packaging_id", "unknown_packaging", "The product has no such packaging.")
        raise InvalidFields(errors=[error])


def _audience(offer: Offer, data: Mapping[str, Any]) -> UUID:
    if data["mode"] == VisibilityMode.PUBLIC:
        return UUID(EVERYBODY)
    return audience_of(offer.tenant_id, Choice.of(data)) if data["mode"] == VisibilityMode.SELECTED else offer.id


def _check_named(offer: Offer, data: Mapping[str, Any]) -> None:
    """Require that there is whoever the body names.

    :raises InvalidFields: names each one that there is not.
    """
    if errors := unknown(offer.tenant_id, {name: (kind, data[name]) for name, kind in _NAMED.items()}):
        raise InvalidFields(errors=errors)


def record(actor: Actor, offer: Offer, kind: type[OfferEvent], at: datetime) -> None:
    """Record what became of an offer, and let the availability of its product follow where that hangs on it."""
    if kind in _OF_STOCK:
        run(availability.refresh_calls(offer.tenant_id, [offer.product_id], at))
    ledger.record(actor=actor, event=kind.of(offer), resource_id=offer.id, at=at, resource_version=offer.version)
