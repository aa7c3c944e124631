"""What staff look at before they qualify a supplier, and what every supplier needs."""

from collections.abc import Callable
from datetime import date
from typing import Final, NamedTuple
from uuid import UUID

from core.pipeline import Call, Statement, run

from .models import SupplierLicense, SupplierProfile
from .states import FOR_CONTROLLED, FOR_MEDICINES


class Check(NamedTuple):
    """One line of the checklist; without `is_required` it only warns."""

    name: str
    label: str
    passed: bool
    is_required: bool = False


class _Classes(NamedTuple):
    """Whether the supplier's active products need a licence."""

    medicines: bool
    controlled: bool


_REQUIRED: Final[dict[str, tuple[str, Callable[[SupplierProfile], bool]]]] = {
    "legal_name": ("Legal name", lambda profile: bool(profile.legal_name)),
    "country": ("Country", lambda profile: bool(profile.country)),
    "registration": ("At least one registration", lambda profile: bool(profile.registrations)),
}
_CLASSES = Statement.of(
    "SELECT EXISTS (SELECT 1 FROM suppliers_product p WHERE p.tenant_id = $1 AND p.status = 'active'"
    " AND p.kind = 'medicine') AS medicines,"
    " EXISTS (SELECT 1 FROM suppliers_product p WHERE p.tenant_id = $1 AND p.status = 'active'"
    " AND p.controlled IS NOT NULL) AS controlled",
    row=_Classes,
)


def missing(profile: SupplierProfile) -> list[str]:
    """Name what every supplier needs and this one lacks."""
    return [name for name, (_, has) in _REQUIRED.items() if not has(profile)]


def checklist(profile: SupplierProfile, today: date) -> list[Check]:
    """Return all lines of a supplier's checklist, for a transaction bound to it; `today` is the date at the supplier."""
    tenant_id: UUID = profile.tenant_id
    (found,) = run([Call(_CLASSES, [str(tenant_id)])])
    (needs,) = found.of(_Classes)
    held = [row for row in SupplierLicense.objects.filter(tenant_id=tenant_id) if row.verified_at and holds(row, today)]
    types = {row.type for row in held}
    lines = [Check(name, label, has(profile), is_required=True) for name, (label, has) in _REQUIRED.items()]
    lines.append(
        Check("identity", "Legal name, country and registrations reviewed", bool(profile.identity_reviewed_at))
    )
    if needs.medicines:
        lines.append(Check("medicines", "Verified licence for medicines", bool(types & set(FOR_MEDICINES))))
    if needs.controlled:
        lines.append(
            Check("controlled", "Verified licence for controlled substances", bool(types & set(FOR_CONTROLLED)))
        )
    reviewed = bool(profile.bank_account_last4 and profile.bank_reviewed_at)
    return [*lines, Check("bank_account", "Bank account reviewed", reviewed)]


def holds(row: SupplierLicense, today: date) -> bool:
    """Tell whether a licence holds on a day."""
    return (row.valid_from is None or row.valid_from <= today) and (row.valid_to is None or row.valid_to > today)
