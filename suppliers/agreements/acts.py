"""What the parties do with a version: propose, accept and decline. Source: contract, supply-price.md 5."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core import rows
from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import InvalidTransition
from core.ids import uuid7
from core.model_rows import delete_call, rows_of, save_call
from core.pipeline import Call, ReadBack, Statement, run
from ledger.public import Occurrence
from organizations.public import CounterpartyOnly, PartyClosed, SharedDocument, write_documents

from .audience import first_calls, later_calls
from .caps import carry_on
from .drafts import event_of
from .events import (
    PriceAgreementActivated,
    PriceAgreementDeclined,
    PriceAgreementEvent,
    PriceAgreementProposed,
    PriceAgreementSuperseded,
)
from .fields import quantities
from .filing import hand_over
from .finding import OwnDraft, Target, require, serial_call, side_of, versions_call, versions_of
from .force import force_call, overlaps_call, refuse_overlaps
from .models import AGREEMENTS, AgreementDraft, PriceAgreement, PriceAgreementLine
from .refusals import DraftOutdated
from .states import AgreementScope, AgreementStatus
from .terms import AgreementTerms

BOTH: Final = ("version", "shared_version")
Told = dict[UUID, list[Occurrence]]
Facts = Sequence[tuple[type[PriceAgreementEvent], PriceAgreement]]


class _Place(NamedTuple):
    """What a version needs to know of its parties' tenants, and the next number of the buyer."""

    buyer_status: str
    organization_id: UUID
    supplier_status: str
    is_managed: bool
    sequence: int


_PLACE = Statement.of(
    "SELECT b.status AS buyer_status, b.organization_id, s.status AS supplier_status,"
    " s.managed_by_id IS NOT NULL AS is_managed, coalesce("
    "(SELECT a.sequence FROM suppliers_priceagreement a WHERE a.tenant_id = $1 AND a.agreement_id = $3 LIMIT 1),"
    "(SELECT max(a.sequence) FROM suppliers_priceagreement a WHERE a.tenant_id = $1) + 1, 1) AS sequence"
    " FROM organizations_tenant b CROSS JOIN organizations_tenant s WHERE b.id = $1 AND s.id = $2",
    row=_Place,
)
_COLUMNS = ", ".join(f'"{field.column}"' for field in PriceAgreement._meta.concrete_fields)
_ACCEPTED = Statement.of(
    f"SELECT {_COLUMNS} FROM suppliers_priceagreement WHERE tenant_id = $1 AND agreement_id = $2"
    " AND status IN ('active', 'suspended') FOR UPDATE"
)


@needs_transaction
def propose(actor: Actor, target: Target, at: datetime, reading: ReadBack | None = None) -> PriceAgreement:
    """Send a draft to the other party: the buyer's row and the supplier's copy come into being.

    A supplier without users cannot answer, so its buyer's proposal takes effect at once.

    :raises InvalidTransition: it is no draft, or another version waits for an answer.
    :raises DraftOutdated: another version was accepted since the draft was written.
    :raises PartyClosed: a party's tenant is closed.
    :raises InvalidFields: a file of the author is not ready any more.
    :raises AgreementOverlap: only of a managed supplier: as `accept`.
    """
    require(target, "propose")
    assert isinstance(target, OwnDraft)
    draft = target.row
    here, revision = _settled(draft)
    row = _version(draft, here, revision, at)
    handed = [] if here.is_managed else hand_over(draft, row, at)
    calls = [rows.insert(row), rows.insert_all(PriceAgreementLine, _lines(draft, row)), *handed]
    told = _told([(PriceAgreementProposed, row)], by=draft.author, is_managed=here.is_managed)
    if not here.is_managed:
        write_documents(actor, row.tenant_id, [(AGREEMENTS, row.id)], calls, told=told, at=at, reading=reading)
        return row
    run([bind_call(row.tenant_id), *calls])
    row.accept(at, by="")
    _put_in_force(actor, row, at, reading, told=told, by=draft.author, is_managed=True)
    return row


def _settled(draft: AgreementDraft) -> tuple[_Place, int]:
    """Take a draft away that becomes a version; return what it needs of its parties, and its number among the versions.

    :raises InvalidTransition, DraftOutdated, PartyClosed: as `propose`.
    """
    buyer, supplier = draft.buyer_tenant_id, draft.supplier_tenant_id
    _, _, versions, place, _, _ = run(
        [
            bind_call(buyer),
            serial_call(buyer),
            versions_call(buyer, draft.agreement_id),
            Call(_PLACE, [str(buyer), str(supplier), str(draft.agreement_id)]),
            bind_call(draft.tenant_id),
            delete_call(draft),
        ]
    )
    found, (here,) = versions_of(versions), place.of(_Place)
    if found.is_pending:
        raise InvalidTransition(state=AgreementStatus.PROPOSED.value, action="propose", allowed=["accept", "decline"])
    if found.accepted != draft.base_revision:
        raise DraftOutdated(revision=found.accepted)
    if "closed" in (here.buyer_status, here.supplier_status):
        raise PartyClosed
    return here, found.newest + 1


def _version(draft: AgreementDraft, place: _Place, revision: int, at: datetime) -> PriceAgreement:
    """Make the buyer's row of a draft; its versions go on from those of the draft."""
    is_organization = draft.scope == AgreementScope.ORGANIZATION
    return PriceAgreement(
        id=draft.id, tenant_id=draft.buyer_tenant_id, agreement_id=draft.agreement_id, revision=revision,
        supplier_tenant_id=draft.supplier_tenant_id, author=draft.author, sequence=place.sequence,
        number=f"PA-{place.sequence:06d}", lines_total=draft.lines_total, categories=draft.categories,
        scope_id=place.organization_id if is_organization else draft.buyer_tenant_id,
        proposed_at=at, created_at=at, updated_at=at, version=draft.version + 1, shared_version=draft.version + 1,
        **{f"accepted_by_{draft.author}_at": at},
        **{name: getattr(draft, name) for name in AgreementTerms.HEADER},
    )  # fmt: skip


def _lines(draft: AgreementDraft, row: PriceAgreement) -> list[dict[str, Any]]:
    """Return the lines of a draft as rows of the buyer."""
    header = {
        "tenant_id": row.tenant_id,
        "agreement_id": row.id,
        "scope_id": row.scope_id,
        "group_code": row.group_code,
        "supplier_tenant_id": row.supplier_tenant_id,
        "currency": row.currency,
        "valid_from": row.valid_from,
        "valid_to": row.valid_to,
    }
    return [
        {
            **header,
            **line,
            "id": uuid7(),
            "line_no": number,
            "quantities": quantities(tier["min_quantity"] for tier in line["tiers"]),
        }
        for number, line in enumerate(draft.lines, 1)
    ]


@needs_transaction
def accept(actor: Actor, target: Target, at: datetime, reading: ReadBack | None = None) -> PriceAgreement:
    """Accept a proposal of the other party; the version before it ends in the same moment.

    :raises InvalidTransition: nothing waits for an answer.
    :raises CounterpartyOnly: the caller has made the proposal.
    :raises AgreementOverlap: other agreements hold for the same; names each line.
    :raises AgreementExhausted: more was taken already than a cap allows; names each line.
    """
    row = _proposal(target, "accept")
    row.accept(at, by=side_of(target).value)
    _put_in_force(actor, row, at, reading, told={}, by=side_of(target).value, is_managed=False)
    return row


@needs_transaction
def decline(
    actor: Actor, target: Target, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PriceAgreement:
    """Decline a proposal of the other party; a version accepted before it goes on.

    :raises InvalidTransition, CounterpartyOnly: as `accept`.
    """
    row = _proposal(target, "decline")
    row.decline(at, data.get("reason") or "")
    calls = [save_call(row, "status", "reason", "ended_at", at=at, versions=BOTH)]
    told = _told([(PriceAgreementDeclined, row)], by=side_of(target).value)
    write_documents(actor, row.tenant_id, [(AGREEMENTS, row.id)], calls, told=told, at=at, reading=reading)
    return row


def _proposal(target: Target, action: str) -> PriceAgreement:
    """Return the version that waits for the caller's answer.

    :raises InvalidTransition, CounterpartyOnly: as `accept`.
    """
    require(target, action)
    assert isinstance(target, SharedDocument)
    row: PriceAgreement = target.row
    if row.author == side_of(target):
        raise CounterpartyOnly
    return row


def _put_in_force(  # one keyword argument for each part of the write
    actor: Actor,
    row: PriceAgreement,
    at: datetime,
    reading: ReadBack | None,
    *,
    told: Told,
    by: str,
    is_managed: bool,
) -> None:
    """Let the lines of a version that was accepted hold, and end the one before it; the buyer is bound at first.

    :raises AgreementOverlap: names each line.
    :raises AgreementExhausted: a line's cap is below what was taken of it before.
    """
    asked = [Call(_ACCEPTED, [str(row.tenant_id), str(row.agreement_id)]), overlaps_call(row)]
    locked, overlaps, *heard = run([*asked, *([] if is_managed else first_calls(row))])
    refuse_overlaps(overlaps)
    before = rows_of(PriceAgreement, locked)
    calls = carry_on(row, before, [] if is_managed else later_calls(row, heard[-1]))
    for one in before:
        one.supersede(at)
        calls += [
            force_call(one.tenant_id, one.id, in_force=False),
            save_call(one, "status", "ended_at", at=at, versions=BOTH),
        ]
        row.version, row.shared_version = max(row.version, one.version), max(row.shared_version, one.shared_version)
    accepted = ("accepted_by_buyer_at", "accepted_by_supplier_at")
    calls += [
        force_call(row.tenant_id, row.id, in_force=True),
        save_call(row, "status", *accepted, at=at, versions=BOTH),
    ]
    facts: Facts = [(PriceAgreementActivated, row), *((PriceAgreementSuperseded, one) for one in before)]
    told = {
        tenant: [*told.get(tenant, []), *more] for tenant, more in _told(facts, by=by, is_managed=is_managed).items()
    }
    touched = [(AGREEMENTS, one.id) for one in (row, *before)]
    write_documents(actor, row.tenant_id, touched, calls, told=told, at=at, reading=reading)


def _told(facts: Facts, *, by: str, is_managed: bool = False) -> Told:
    """Return what both parties are told of versions, each with the version that it reads; a managed supplier nothing."""
    row = facts[0][1]
    mine = [Occurrence(event_of(kind, one, by=by), one.agreement_id, one.version) for kind, one in facts]
    if is_managed:
        return {row.tenant_id: mine}
    other = [Occurrence(event_of(kind, one, by=by), one.agreement_id, one.shared_version) for kind, one in facts]
    return {row.tenant_id: mine, row.supplier_tenant_id: other}
