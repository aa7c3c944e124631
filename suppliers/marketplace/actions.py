"""Actions on offers: draft, replace, publish, hide, and say who may see them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core import rows
from core.actor import Actor
from core.arrays import array_literal
from core.canonical import decimal_text
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, InvalidTransition, NotFound
from core.pipeline import Call, Statement, run
from ledger import public as ledger
from suppliers.catalog.models import Packaging
from suppliers.catalog.refusals import FieldLocked
from suppliers.catalog.states import PackagingState

from .events import OfferCreated, OfferEvent, OfferPublished, OfferUnpublished, OfferUpdated, OfferVisibilityChanged
from .models import AudienceMember, Offer, OfferExclusion
from .publishing import check_complete
from .states import EVERYBODY, OfferStatus, VisibilityMode

_FIXED = ("product_id", "packaging_id")
_KNOWN = Statement.of("SELECT n.id::text FROM organizations_tenant n WHERE n.id = ANY($1::uuid[])")


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
    _record(actor, offer, OfferCreated, at)
    return offer


@needs_transaction
def replace_offer(actor: Actor, offer: Offer, data: Mapping[str, Any], at: datetime) -> Offer:
    """Replace a locked offer; `status` archived ends it for good.

    :raises InvalidFields: the product has no such packaging.
    :raises InvalidTransition: the offer is archived, or publishing and hiding have addresses of their own.
    :raises FieldLocked: product and packaging stay once the offer was published.
    """
    wanted = data.get("status") or offer.status
    if offer.status == OfferStatus.ARCHIVED or wanted not in (offer.status, OfferStatus.ARCHIVED):
        raise InvalidTransition(state=offer.status, action="replace", allowed=[])
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
        _record(actor, offer, OfferUpdated, at)
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
    _record(actor, offer, OfferPublished, at)
    return offer


@needs_transaction
def unpublish_offer(actor: Actor, offer: Offer, at: datetime) -> Offer:
    """Hide a locked offer; what was ordered or reserved by it goes on.

    :raises InvalidTransition: it is not published.
    """
    offer.unpublish()
    offer.save_version("status", at=at)
    _record(actor, offer, OfferUnpublished, at)
    return offer


@needs_transaction
def set_visibility(actor: Actor, offer: Offer, data: Mapping[str, Any], at: datetime) -> Offer:
    """Say who may see a locked offer, and how they are told of its stock; both lists are replaced.

    :raises InvalidFields: there is no such tenant.
    :raises InvalidTransition: the offer is archived.
    """
    if offer.status == OfferStatus.ARCHIVED:
        raise InvalidTransition(state=offer.status, action="set_visibility", allowed=[])
    _check_tenants(data)
    offer.visibility_mode = data["mode"]
    offer.audience_id = UUID(EVERYBODY) if data["mode"] == VisibilityMode.PUBLIC else offer.id
    offer.stock_display, offer.cap = data["stock_display"], data["cap"]
    offer.save_version("visibility_mode", "audience_id", "stock_display", "cap", at=at)
    mine = {"tenant_id": offer.tenant_id}
    AudienceMember.objects.filter(**mine, audience_id=offer.id).delete()
    OfferExclusion.objects.filter(**mine, offer_id=offer.id).delete()
    members = [
        {"tenant_id": str(offer.tenant_id), "audience_id": str(offer.id), "member_tenant_id": str(one)}
        for one in sorted(set(data["tenant_ids"]))
    ]
    excluded = [
        {"tenant_id": str(offer.tenant_id), "offer_id": str(offer.id), "member_tenant_id": str(one)}
        for one in sorted(set(data["excluded_tenant_ids"]))
    ]
    calls = [rows.insert_all(AudienceMember, members)] if members else []
    calls += [rows.insert_all(OfferExclusion, excluded)] if excluded else []
    if calls:
        run(calls)
    _record(actor, offer, OfferVisibilityChanged, at)
    return offer


def _columns(data: Mapping[str, Any]) -> dict[str, Any]:
    tiers = sorted(data["tiers"], key=lambda tier: int(tier["min_quantity"]))
    found = {name: data[name] for name in Offer.WRITABLE}
    return found | {
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


def _check_tenants(data: Mapping[str, Any]) -> None:
    wanted = {one for name in ("tenant_ids", "excluded_tenant_ids") for one in data[name]}
    (found,) = run([Call(_KNOWN, [array_literal(wanted)])])
    known = {UUID((found.value(number) or b"").decode()) for number in range(len(found))}
    errors = [
        FieldError(f"{name}.{number}", "unknown_tenant", "There is no such tenant.")
        for name in ("tenant_ids", "excluded_tenant_ids")
        for number, one in enumerate(data[name])
        if one not in known
    ]
    if errors:
        raise InvalidFields(errors=errors)


def _record(actor: Actor, offer: Offer, kind: type[OfferEvent], at: datetime) -> None:
    ledger.record(actor=actor, event=kind.of(offer), resource_id=offer.id, at=at, resource_version=offer.version)
