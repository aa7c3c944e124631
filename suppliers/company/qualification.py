"""Whether a supplier may trade: what staff decide, what licences it holds, and what both mean in SQL.

Source: contract, supply-shelf.md "Company" and supply.md 3.6.
"""

from collections.abc import Sequence
from datetime import datetime

from core.actor import Actor
from core.db import needs_transaction
from core.errors import Conflict
from ledger import public as ledger

from .actions import save, tell
from .checklist import missing
from .events import SupplierQualified, SupplierSuspended
from .models import SupplierLicense, SupplierProfile
from .today import today_sql


class NothingToReview(Conflict):
    """What staff would review is not there, or was reviewed already."""

    code = "nothing_to_review"
    title = "There is nothing to review."


class QualificationIncomplete(Conflict):
    """A supplier without what every supplier needs cannot be qualified; `missing` names it."""

    code = "qualification_incomplete"
    title = "The supplier lacks what every supplier needs."
    extensions = {"missing": ["registration"]}


def is_qualified(supplier: str) -> str:
    """Write the condition that a supplier, whose id is given as SQL, may take new orders.

    It is a value, not an EXISTS, which PostgreSQL would turn into a join of all suppliers.
    """
    return (
        "coalesce((SELECT f.qualification_status = 'qualified' FROM suppliers_supplierprofile f"
        f" WHERE f.tenant_id = {supplier}), false)"
    )


def has_license(supplier: str, types: Sequence[str]) -> str:
    """Write the condition that a supplier holds a verified licence of one of some types today, by the date at the supplier."""
    today, known = today_sql(supplier), ", ".join(f"'{one}'" for one in types)
    return (
        f"EXISTS (SELECT 1 FROM suppliers_supplierlicense l WHERE l.tenant_id = {supplier} AND l.type IN ({known})"
        f" AND l.verified_at IS NOT NULL AND (l.valid_from IS NULL OR l.valid_from <= {today})"
        f" AND (l.valid_to IS NULL OR l.valid_to > {today}))"
    )


@needs_transaction
def start_review(actor: Actor, profile: SupplierProfile, at: datetime) -> SupplierProfile:
    """Begin the review of a locked supplier.

    :raises InvalidTransition: it is under review, or was qualified before.
    """
    profile.start_review()
    _save_status(profile, at)
    tell(actor, profile, ["qualification_status"], at)
    return profile


@needs_transaction
def qualify(actor: Actor, profile: SupplierProfile, at: datetime) -> SupplierProfile:
    """Let a locked supplier trade, after its review or after a suspension.

    :raises InvalidTransition: it is neither under review nor suspended.
    :raises QualificationIncomplete: its profile lacks what every supplier needs.
    """
    profile.qualify()
    if lacking := missing(profile):
        raise QualificationIncomplete(f"Still missing: {', '.join(lacking)}.", missing=lacking)
    _save_status(profile, at)
    _record(actor, profile, SupplierQualified(), at)
    return profile


@needs_transaction
def suspend(actor: Actor, profile: SupplierProfile, at: datetime) -> SupplierProfile:
    """Hide a qualified, locked supplier's offers, and let it take no new orders.

    :raises InvalidTransition: it is not qualified.
    """
    profile.suspend()
    _save_status(profile, at)
    _record(actor, profile, SupplierSuspended(), at)
    return profile


@needs_transaction
def disqualify(actor: Actor, profile: SupplierProfile, at: datetime) -> SupplierProfile:
    """Refuse a locked supplier until another review.

    :raises InvalidTransition: it is disqualified.
    """
    profile.disqualify()
    _save_status(profile, at)
    tell(actor, profile, ["qualification_status"], at)
    return profile


@needs_transaction
def review_identity(actor: Actor, profile: SupplierProfile, at: datetime) -> SupplierProfile:
    """Note that staff have seen legal name, country and registrations of a locked supplier as they stand now.

    :raises NothingToReview: they were reviewed already.
    """
    if profile.identity_reviewed_at is not None:
        raise NothingToReview
    profile.identity_reviewed_at = at
    save(profile, "identity_reviewed_at", at=at)
    return profile


@needs_transaction
def review_bank_account(actor: Actor, profile: SupplierProfile, at: datetime) -> SupplierProfile:
    """Note that staff have seen the bank account of a locked supplier as it stands now.

    :raises NothingToReview: there is none, or it was reviewed already.
    """
    if not profile.bank_account_last4 or profile.bank_reviewed_at is not None:
        raise NothingToReview
    profile.bank_reviewed_at = at
    save(profile, "bank_reviewed_at", at=at)
    tell(actor, profile, ["bank_account"], at)
    return profile


@needs_transaction
def verify_license(actor: Actor, profile: SupplierProfile, row: SupplierLicense, at: datetime) -> SupplierLicense:
    """Note that staff have seen a licence of a locked supplier as it stands now.

    :raises NothingToReview: it was verified already.
    """
    if row.verified_at is not None:
        raise NothingToReview
    row.verified_at = at
    row.save_version("verified_at", at=at)
    save(profile, at=at)
    tell(actor, profile, ["licenses"], at)
    return row


def _save_status(profile: SupplierProfile, at: datetime) -> None:
    save(profile, "qualification_status", at=at)


def _record(actor: Actor, profile: SupplierProfile, fact: ledger.EventType, at: datetime) -> None:
    ledger.record(actor=actor, event=fact, resource_id=profile.tenant_id, at=at, resource_version=profile.version)
