"""Event types of relationships and managed suppliers, told to the buyer alone. Source: contract, supply.md 8."""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger.public import EventType, register


@register
@dataclass(frozen=True)
class SupplierCreated(EventType):
    """The tenant has described a supplier that is not on the platform, and that nobody else sees."""

    type: ClassVar[str] = "supplier.created"
    resource: ClassVar[str] = "supplier"
    href: ClassVar[str] = "/v1/suppliers/{id}"

    country: str = field(metadata={"example": "DE"})


@register
@dataclass(frozen=True)
class RelationshipUpdated(EventType):
    """The tenant's relationship to a supplier has changed; `changed` names what. The resource's id is the supplier's."""

    type: ClassVar[str] = "relationship.updated"
    resource: ClassVar[str] = "relationship"
    href: ClassVar[str] = "/v1/suppliers/{id}"

    status: str = field(metadata={"example": "active"})
    blocks: list[str]
    changed: list[str]
