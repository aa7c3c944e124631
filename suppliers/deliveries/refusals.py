"""Refusals of shipments and deliveries. Source: contract, supply-order.md 3."""

from core.errors import Conflict


class OverShipment(Conflict):
    """More would be shipped than is accepted, with what the agreement tolerates; `errors` names each line with what is open."""

    code = "over_shipment"
    title = "More would be shipped than is accepted."


class LotNotShippable(Conflict):
    """A lot may not leave; `errors` names each line, with `reason` expired, quarantined, recalled or shelf_life_too_short."""

    code = "lot_not_shippable"
    title = "A lot may not be shipped."


class AlreadyCompleted(Conflict):
    """All of the delivery was received."""

    code = "delivery_completed"
    title = "The delivery is completed."
