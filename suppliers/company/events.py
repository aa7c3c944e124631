"""Event types of the supplier's profile, told to the supplier itself. Source: contract, supply.md 8."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from ledger.public import EventType, register

if TYPE_CHECKING:
    from .models import SupplierLicense


class _SupplierEvent(EventType):
    """Something happened to the supplier itself, whose id is that of its tenant."""

    resource: ClassVar[str] = "supplier"


@register
@dataclass(frozen=True)
class SupplierUpdated(_SupplierEvent):
    """Members of a supplier's profile changed; `changed` names them, `qualification_status` says how it stands."""

    type: ClassVar[str] = "supplier.updated"
    data_class: ClassVar[str] = "personal"

    changed: list[str]
    qualification_status: str = field(metadata={"example": "qualified"})


@register
@dataclass(frozen=True)
class SupplierQualified(_SupplierEvent):
    """The platform's staff let a supplier trade, or trade again."""

    type: ClassVar[str] = "supplier.qualified"


@register
@dataclass(frozen=True)
class SupplierSuspended(_SupplierEvent):
    """A supplier takes no new orders, and its offers are hidden; what is under way goes on."""

    type: ClassVar[str] = "supplier.suspended"


@dataclass(frozen=True)
class _LicenseEvent(_SupplierEvent):
    license_id: str
    license_type: str = field(metadata={"example": "wholesale"})
    valid_to: str = field(metadata={"example": "2027-01-01"})

    @classmethod
    def of(cls, row: "SupplierLicense") -> Self:
        """Return the event of a licence that has an end."""
        return cls(license_id=str(row.id), license_type=row.type, valid_to=str(row.valid_to))


@register
@dataclass(frozen=True)
class LicenseExpiring(_LicenseEvent):
    """A licence of a supplier ends within 90, 30 or 7 days; told once for each of these."""

    type: ClassVar[str] = "supplier.license_expiring"


@register
@dataclass(frozen=True)
class LicenseExpired(_LicenseEvent):
    """A licence of a supplier holds no more."""

    type: ClassVar[str] = "supplier.license_expired"
