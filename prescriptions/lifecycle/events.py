"""Event types of prescriptions: thin, of the data class `phi`, told to the owner and to the pharmacy.

`by` says which side acted. Source: contract, prescriptions.md "Events".
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from ledger import public as ledger

PRESCRIBER, PHARMACY, PLATFORM = "prescriber", "pharmacy", "platform"


@dataclass(frozen=True)
class PrescriptionEvent(ledger.EventType):
    """What became of a prescription: its number, its status and the state of its route."""

    resource: ClassVar[str] = "prescription"
    href: ClassVar[str] = "/v1/prescriptions/{id}"
    data_class: ClassVar[str] = "phi"

    number: str = field(metadata={"example": "RX-2026-000042"})
    status: str = field(metadata={"example": "signed"})
    route_state: str = field(metadata={"example": "sent"})
    by: str = field(metadata={"example": PRESCRIBER})


@dataclass(frozen=True)
class HandedOver(PrescriptionEvent):
    """What was handed over or taken back; the figures stay in the ledger, where stock is booked from them."""

    figures: ClassVar[tuple[str, ...]] = ("dispensation_id", "pharmacy_location_id", "lines")

    dispensation_id: str = ""
    pharmacy_location_id: str = ""
    lines: list[dict[str, Any]] = field(default_factory=list)


_SAYS: Final = {
    "created": "A draft of a prescription was made.",
    "updated": "A draft was changed; a former validation no longer counts.",
    "validated": "A clinical validation ended without an open issue.",
    "validation_blocked": "A clinical validation ended with an open issue.",
    "signed": "The prescriber signed.",
    "routed": "A prescription was routed to a pharmacy.",
    "rerouted": "A prescription went to another pharmacy.",
    "token_issued": "A token was issued, by which the patient may choose a pharmacy.",
    "claimed": "A pharmacy claimed a prescription by the patient's token.",
    "acknowledged": "The pharmacy confirmed that it has received the prescription, or seen its cancellation.",
    "rejected": "The pharmacy handed the prescription back before it had acknowledged it.",
    "returned": "The pharmacy handed the prescription back untouched.",
    "ready_for_collection": "The pharmacy has what was prescribed ready for collection.",
    "partially_dispensed": "The pharmacy dispensed a part; something remains.",
    "dispensed": "The pharmacy dispensed what remained.",
    "dispense_reversed": "A dispensation was reversed.",
    "cancelled": "A prescription, or what was left of it, was cancelled.",
    "expired": "A prescription expired.",
    "expiring": "A prescription will expire soon.",
}
_WITH_FIGURES: Final = frozenset({"partially_dispensed", "dispensed", "dispense_reversed"})


def _kind(name: str) -> type[PrescriptionEvent]:
    base = HandedOver if name in _WITH_FIGURES else PrescriptionEvent
    members = {"__doc__": _SAYS[name], "__module__": __name__, "type": f"prescription.{name}"}
    title = "".join(part.title() for part in name.split("_"))
    return ledger.register(type(f"Prescription{title}", (base,), members))


KINDS: Final = {name: _kind(name) for name in _SAYS}
