"""Holds of the platform's staff on offers: what is held is hidden until staff lift the hold.

Source: contract, supply.md 13.6.
"""

from datetime import datetime

from core.actor import Actor
from core.db import needs_transaction
from core.errors import InvalidTransition
from suppliers.catalog.refusals import ModerationHold, NotHeld

from .actions import record, show
from .events import OfferUnpublished, OfferUpdated
from .models import Offer
from .states import OfferStatus


@needs_transaction
def hold_offer(actor: Actor, offer: Offer, reason: str, at: datetime) -> Offer:
    """Hide a locked offer, as the staff do, and keep the supplier from publishing it or another one of its packaging.

    :raises InvalidTransition: the offer is archived.
    :raises ModerationHold: it is held already.
    """
    if offer.status == OfferStatus.ARCHIVED:
        raise InvalidTransition("An archived offer is final.", state=offer.status, action="hold", allowed=[])
    if offer.held_at is not None:
        raise ModerationHold(reason=offer.hold_reason)
    was_published = offer.status == OfferStatus.PUBLISHED
    if was_published:
        offer.unpublish()
    offer.held_at, offer.hold_reason = at, reason
    offer.save_version("status", "held_at", "hold_reason", at=at)
    show(offer)
    record(actor, offer, OfferUnpublished if was_published else OfferUpdated, at)
    return offer


@needs_transaction
def lift_offer_hold(actor: Actor, offer: Offer, at: datetime) -> Offer:
    """Let the supplier publish a locked offer again; it stays hidden until then.

    :raises NotHeld: staff do not hold it.
    """
    if offer.held_at is None:
        raise NotHeld
    offer.held_at, offer.hold_reason = None, ""
    offer.save_version("held_at", "hold_reason", at=at)
    record(actor, offer, OfferUpdated, at)
    return offer
