"""Finding an order of the buyer for a write, and the places that it may name."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, NotFound
from core.pipeline import Call, Rows, Statement
from organizations.public import SharedDocument, TwoParty
from suppliers.public import ORDERS_WITHIN

WITHIN: Final = ORDERS_WITHIN
_LOCATION: Final = "delivery_location_id"


class DeliveryPlace(NamedTuple):
    """An active location of the buyer, with its address and the country of it; empty where it is not known."""

    address: Any
    country: str


_PLACE = Statement.of(
    "SELECT json_build_object('name', l.name, 'address', l.address) AS address,"
    " coalesce(l.address ->> 'country', '') AS country FROM organizations_location l"
    " WHERE l.tenant_id = $1 AND l.id = $2 AND l.status = 'active'",
    row=DeliveryPlace,
)


@dataclass(frozen=True, slots=True, eq=False)
class OwnOrder(TwoParty):
    """The `find` of a buyer's action on an order: what is out of the membership's reach does not exist."""

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> SharedDocument:
        """Lock and return the order, its owner bound.

        :raises NotFound, PartyClosed, CounterpartyOnly: as `TwoParty`.
        """
        found = TwoParty.__call__(self, actor, *path, located=located)
        if found.is_owner and not WITHIN.holds(actor, found.row.delivery_location_id):
            raise NotFound(f"No such {self.kind.name}.")
        return found


def place_call(tenant_id: UUID, location_id: UUID) -> Call:
    """Return the statement that reads a location of the bound tenant; see `place_of`."""
    return Call(_PLACE, [str(tenant_id), str(location_id)])


@needs_transaction
def place_of(actor: Actor, found: Rows, location_id: UUID) -> DeliveryPlace:
    """Return the location that `place_call` has read; the tenant is bound.

    :raises InvalidFields: there is none in the actor's reach.
    """
    rows = found.of(DeliveryPlace)
    if not rows or not WITHIN.holds(actor, location_id):
        raise InvalidFields(errors=[FieldError(_LOCATION, "unknown_location", "There is no such location.")])
    return rows[0]
