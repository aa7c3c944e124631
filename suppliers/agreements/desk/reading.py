"""What staff see beside an agreement: its versions, who accepted them, its lines, and the copy that the supplier holds."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import Sum

from core.actor import SubjectKind
from core.db import tenant_context
from ledger.public import Event
from organizations.staff.names import Ids
from suppliers.agreements.models import (
    AgreementAudience,
    PriceAgreement,
    PriceAgreementLine,
    ReceivedAgreement,
    ReceivedAgreementLine,
)

from .differences import Difference, differences, tiers_of

MOST_LINES: Final = 100
MOST_DIFFERENCES: Final = 200
_DECISIONS: Final = {
    "price_agreement.proposed": "proposed",
    "price_agreement.activated": "accepted",
    "price_agreement.declined": "declined",
    "price_agreement.suspended": "suspended",
    "price_agreement.resumed": "resumed",
    "price_agreement.terminated": "given notice",
}


class Decision(NamedTuple):
    """One step of an agreement, as the acting tenant's ledger has it; of the other side's steps it names nobody."""

    at: datetime
    what: str
    revision: int
    by: str
    ids: Ids


class Beside(NamedTuple):
    """One thing of the owner's row and of the copy that must be the same."""

    what: str
    row: str
    copy: str


def versions(row: PriceAgreement) -> list[PriceAgreement]:
    """Return all versions of an agreement, the newest first."""
    mine = PriceAgreement.objects.filter(tenant_id=row.tenant_id, agreement_id=row.agreement_id)
    return list(mine.order_by("-revision"))


def decisions(tenant_id: UUID, agreement_id: UUID) -> list[Decision]:
    """Return who did what with an agreement, in the order of time."""
    mine = Event.objects.filter(tenant_id=tenant_id, resource_id=agreement_id, type__in=_DECISIONS)
    return [
        Decision(one.occurred_at, _DECISIONS[one.type], one.data["revision"], one.data["by"], _ids(one))
        for one in mine.order_by("occurred_at", "id")
    ]


def _ids(fact: Event) -> Ids:
    if fact.subject_kind == SubjectKind.SYSTEM and not fact.credential.startswith("staff:"):
        return Ids()
    return Ids(fact.subject_id, fact.credential, fact.membership_id)


def changed_since(row: PriceAgreement) -> tuple[PriceAgreement | None, list[Difference], int]:
    """Return the version before, what differs from it, and how many more differences there are than are shown."""
    mine = PriceAgreement.objects.filter(tenant_id=row.tenant_id, agreement_id=row.agreement_id)
    before = mine.filter(revision__lt=row.revision).order_by("-revision").first()
    if before is None:
        return None, [], 0
    found = [*differences(before, row, lines_of(before), lines_of(row))]
    return before, found[:MOST_DIFFERENCES], max(len(found) - MOST_DIFFERENCES, 0)


def lines_of(row: PriceAgreement) -> Iterator[PriceAgreementLine]:
    """Yield the lines of a version, in their order."""
    mine = PriceAgreementLine.objects.filter(tenant_id=row.tenant_id, agreement_id=row.pk)
    yield from mine.order_by("line_no")


def shown_lines(row: PriceAgreement) -> list[dict[str, Any]]:
    """Return the first lines with what was taken of them, beside what the supplier's copy says."""
    mine = PriceAgreementLine.objects.filter(tenant_id=row.tenant_id, agreement_id=row.pk).order_by("line_no")
    lines = list(mine[:MOST_LINES])
    with tenant_context(row.supplier_tenant_id):
        copies = ReceivedAgreementLine.objects.filter(tenant_id=row.supplier_tenant_id, document_id=row.pk)
        taken = dict(copies.filter(pk__in=[one.pk for one in lines]).values_list("pk", "consumed"))
    return [{"of": one, "tiers": tiers_of(one.tiers), "copy": taken.get(one.pk)} for one in lines]


def beside_copy(row: PriceAgreement) -> list[Beside]:
    """Return what the owner's row says beside what the supplier's copy says; nothing where there is no copy."""
    mine = PriceAgreementLine.objects.filter(tenant_id=row.tenant_id, agreement_id=row.pk)
    owned = mine.aggregate(taken=Sum("consumed", default=0))["taken"], mine.count()
    with tenant_context(row.supplier_tenant_id):
        held = ReceivedAgreement.objects.filter(tenant_id=row.supplier_tenant_id, pk=row.pk).first()
        theirs = ReceivedAgreementLine.objects.filter(tenant_id=row.supplier_tenant_id, document_id=row.pk)
        copied = theirs.aggregate(taken=Sum("consumed", default=0))["taken"], theirs.count()
    if held is None:
        return []
    last = min(filter(None, (row.valid_to, row.terminates_on)))
    return [
        Beside("Status", row.status, held.status),
        Beside("Version", str(row.shared_version), str(held.version)),
        Beside("Valid until", str(last), str(held.valid_to)),
        Beside("Lines", str(owned[1]), str(copied[1])),
        Beside("Taken in all", str(owned[0]), str(copied[0])),
    ]


def copied_lines(copy: ReceivedAgreement) -> tuple[list[dict[str, Any]], int]:
    """Return the first lines of a copy with what was taken of them, and how many there are."""
    mine = ReceivedAgreementLine.objects.filter(tenant_id=copy.tenant_id, document_id=copy.pk)
    shown = mine.order_by("line_no")[:MOST_LINES]
    return [{"of": one, "tiers": tiers_of(one.tiers), "copy": one.consumed} for one in shown], mine.count()


def audience(copy: ReceivedAgreement) -> tuple[list[AgreementAudience], int]:
    """Return the first buyers for whom a copy holds, the nearest first, and how many there are."""
    mine = AgreementAudience.objects.filter(tenant_id=copy.tenant_id, agreement_id=copy.pk)
    return list(mine.order_by("distance", "member_tenant_id")[:MOST_LINES]), mine.count()
