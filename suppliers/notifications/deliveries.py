"""What alerts tell of deliveries that went wrong: goods that were not kept cold, and suspect ones, to both parties.

Source: contract, supply-order.md 3 to 5.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Statement, run

from .alerts import Cause, Look
from .preferences import Preferences
from .states import Severity, Type

REPORTED: Final = "delivery.exception_reported"
DELIVERY: Final = "delivery"
ALERT_OF: Final = {"temperature_excursion": Type.TEMPERATURE_EXCURSION, "suspect": Type.SUSPECT_GOODS}
_WORDS: Final = {"temperature_excursion": "Not kept cold", "suspect": "Suspect goods"}
_NEXT: Final = {
    "temperature_excursion": "Decide what becomes of the goods before they are used.",
    "suspect": "The buyer's lots of them are held back until somebody has decided; goods without a lot have to be set apart.",
}


class _Reported(NamedTuple):
    """A delivery of which something was reported; `location_id` is where it goes, or for its supplier from where it was shipped."""

    id: UUID
    number: str
    location_id: UUID | None


# The buyer's own rows, and the supplier's copies, of which a tenant has either.
_REPORTED = Statement.of(
    "SELECT d.id, d.number, d.delivery_location_id AS location_id FROM suppliers_delivery d WHERE d.tenant_id = $1"
    " AND d.id = ANY($2::uuid[]) AND EXISTS (SELECT 1 FROM suppliers_deliveryexception e WHERE e.tenant_id = $1"
    " AND e.delivery_id = d.id AND e.type = $3) UNION ALL SELECT c.id, c.number, (SELECT p.from_location_id"
    " FROM suppliers_shipmentprivate p WHERE p.tenant_id = $1 AND p.id = c.id) FROM suppliers_receiveddelivery c"
    " WHERE c.tenant_id = $1 AND c.id = ANY($2::uuid[]) AND c.representation -> 'exceptions' @>"
    " jsonb_build_array(jsonb_build_object('type', $3::text))",
    row=_Reported,
)


def reported(kind: str) -> Look:
    """Return what looks at deliveries of which an exception of a type was reported."""

    def look(tenant_id: UUID, subjects: Sequence[str], preferences: Preferences, at: datetime) -> Iterator[Cause]:
        (found,) = run([Call(_REPORTED, [str(tenant_id), array_literal(subjects), kind])])
        for one in found.of(_Reported):
            yield Cause(
                resource_type=DELIVERY,
                resource_id=str(one.id),
                severity=Severity.CRITICAL,
                title=f"{_WORDS[kind]}: delivery {one.number}"[:200],
                body=f"{_WORDS[kind]} was reported of delivery {one.number}. {_NEXT[kind]}",
                location_id=one.location_id,
            )

    return look
