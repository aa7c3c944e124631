"""Event types of requests, told to the owner and to the pharmacy that asked."""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger import public as ledger


@dataclass(frozen=True)
class _RequestEvent(ledger.EventType):
    """What became of a request; `href` leads to it."""

    resource: ClassVar[str] = "prescription_request"
    href: ClassVar[str] = "/v1/prescriptions/requests/{id}"
    data_class: ClassVar[str] = "phi"

    number: str = field(metadata={"example": "RX-2026-000042"})
    kind: str = field(metadata={"example": "renewal"})
    status: str = field(metadata={"example": "open"})
    by: str = field(metadata={"example": "pharmacy"})


@ledger.register
@dataclass(frozen=True)
class PrescriptionRequestCreated(_RequestEvent):
    """A pharmacy asks for a renewal, a change or a clarification, or asks again."""

    type: ClassVar[str] = "prescription_request.created"


@ledger.register
@dataclass(frozen=True)
class PrescriptionRequestAnswered(_RequestEvent):
    """A request was answered, or closed because the prescription was cancelled."""

    type: ClassVar[str] = "prescription_request.answered"
