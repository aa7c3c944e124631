"""Refusals of the marketplace."""

from core.errors import Conflict


class OfferExists(Conflict):
    """Another offer of the same packaging is published or paused."""

    code = "offer_exists"
    title = "Another live offer has this packaging."


class OfferNotAvailable(Conflict):
    """The buyer may not see such an offer, or it is not on sale; `errors` names each line."""

    code = "offer_not_available"
    title = "The offer is not available."


class OrderQuantityInvalid(Conflict):
    """A quantity is below the least, above the most or no multiple of the step; `errors` says what to ask for instead."""

    code = "order_quantity_invalid"
    title = "The quantity cannot be ordered."


class OfferIncomplete(Conflict):
    """The offer cannot be published; `checks` names what fails."""

    code = "offer_incomplete"
    title = "The offer is not complete."
    extensions = {"checks": ["product_active"]}
