"""Writing drafts: a first version, or the next one of an agreement that was accepted. Source: contract, supply-price.md 5."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import orjson

from core import rows
from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.model_rows import save_call
from core.pipeline import Call, ReadBack, Statement, run
from ledger import public as ledger
from organizations.public import SharedDocument
from suppliers.catalog.refusals import FieldLocked

from .events import PriceAgreementCreated, PriceAgreementEvent, PriceAgreementUpdated
from .filing import take_files
from .finding import Target, side_of, versions_call, versions_of
from .lines import Line, categories_of, checked, merged
from .models import AgreementDraft, PriceAgreement
from .parties import check_group, other_party
from .refusals import AgreementImmutable
from .states import ACCEPTED, DRAFT, AgreementScope, AgreementStatus, LinesMode, Side
from .terms import AgreementTerms

_MONEY: Final = ("min_order_value", "free_freight_from")
_MEMBERS: Final = (
    "'product_id', l.product_id, 'category', l.category, 'packaging_id', l.packaging_id, 'tiers', l.tiers,"
    " 'price_base_quantity', l.price_base_quantity, 'max_quantity', l.max_quantity,"
    " 'min_remaining_shelf_life_days', l.min_remaining_shelf_life_days, 'lead_time_days', l.lead_time_days"
)
_LINES = Statement.of(
    f"SELECT coalesce(json_agg(json_build_object({_MEMBERS}) ORDER BY l.line_no), '[]')::text"
    " FROM suppliers_priceagreementline l WHERE l.tenant_id = $1 AND l.agreement_id = $2"
)


@needs_transaction
def create_draft(
    actor: Actor, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None, *, side: Side
) -> AgreementDraft:
    """Create a draft of a first version, which its author alone can see.

    :raises SelfTrade: the other party is the caller itself.
    :raises InvalidFields: there is no such party, group, product, packaging or category; or terms contradict each other.
    """
    party = other_party(actor, side, data)
    buyer, supplier = (actor.tenant_id, party) if side is Side.BUYER else (party, actor.tenant_id)
    key = uuid7()
    draft = AgreementDraft(
        id=key, agreement_id=key, tenant_id=actor.tenant_id, buyer_tenant_id=buyer, supplier_tenant_id=supplier,
        author=side.value, created_at=at, updated_at=at,
    )  # fmt: skip
    draft.assign(_header(data))
    check_terms(actor, draft)
    _take_lines(draft, merged([], checked(actor.tenant_id, supplier, data["lines"]), LinesMode.REPLACE))
    _, bound = take_files(draft, data, at)
    _finish(actor, draft, [rows.insert(draft), *bound], PriceAgreementCreated, at, reading)
    return draft


@needs_transaction
def edit(
    actor: Actor, target: Target, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> AgreementDraft:
    """Change a draft; of an accepted version begin a draft of the next one. If nothing differs, nothing is written.

    :raises AgreementImmutable: a version waits for an answer, or the agreement has ended.
    :raises FieldLocked: the lines that stay are prices of another currency.
    :raises InvalidFields: as `create_draft`.
    """
    draft = _next_version(actor, target, at) if isinstance(target, SharedDocument) else target.row
    is_new = isinstance(target, SharedDocument)
    before = draft.currency
    changed = draft.assign(_header(data))
    check_terms(actor, draft)
    if "lines" in data:
        changes = checked(actor.tenant_id, draft.supplier_tenant_id, data["lines"])
        changed += _take_lines(draft, merged(draft.lines, changes, data.get("lines_mode", LinesMode.REPLACE)))
    if draft.currency != before and ("lines" not in data or data.get("lines_mode") == LinesMode.MERGE):
        raise FieldLocked(fields=["currency"])
    files, bound = take_files(draft, data, at)
    changed += files
    changed += _rebased(draft)
    if is_new or changed:
        saved = rows.insert(draft) if is_new else save_call(draft, *changed, at=at)
        _finish(actor, draft, [saved, *bound], PriceAgreementUpdated, at, reading)
    return draft


def _header(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the header that a body gives."""
    found = {name: data[name] for name in AgreementTerms.HEADER if name in data}
    if "group" in data:
        found["group_code"] = data["group"] or ""
    if "cancellation_policy" in data:
        found["cancellation_policy"] = data["cancellation_policy"] or ""
    return found


@needs_transaction
def check_terms(actor: Actor, draft: AgreementDraft) -> None:
    """Hold the members of a header to one another, and its group to the supplier's.

    :raises InvalidFields: names each member at fault.
    """
    errors = []
    if draft.valid_to <= draft.valid_from:
        errors.append(FieldError("valid_to", "min_value", "Must be after valid_from."))
    if draft.group_code and draft.scope != AgreementScope.ORGANIZATION:
        errors.append(FieldError("group", "invalid", "Belongs to the scope organization."))
    for name in _MONEY:
        amount = getattr(draft, name)
        if amount and amount["currency"] != draft.currency:
            errors.append(FieldError(f"{name}.currency", "invalid", "Must be the currency of the agreement."))
    if errors:
        raise InvalidFields(errors=errors)
    if draft.group_code:
        check_group(actor, Side(draft.author), draft.supplier_tenant_id, draft.group_code)


def _take_lines(draft: AgreementDraft, lines: Sequence[Line]) -> list[str]:
    """Put lines into a draft; return what changed."""
    return draft.assign({"lines": lines, "lines_total": len(lines), "categories": categories_of(lines)})


def _next_version(actor: Actor, target: SharedDocument, at: datetime) -> AgreementDraft:
    """Begin a draft with the terms of an accepted version; the caller is bound afterwards.

    :raises AgreementImmutable: the version is not accepted, or another one waits for an answer.
    """
    accepted: PriceAgreement = target.row
    if accepted.status not in ACCEPTED:
        raise AgreementImmutable(state=accepted.status)
    owner = str(accepted.tenant_id)
    versions, lines, _ = run(
        [
            versions_call(accepted.tenant_id, accepted.agreement_id),
            Call(_LINES, [owner, str(accepted.id)]),
            bind_call(actor.tenant_id),
        ]
    )
    if versions_of(versions).is_pending:
        raise AgreementImmutable(state=AgreementStatus.PROPOSED.value)
    draft = AgreementDraft(
        id=uuid7(), agreement_id=accepted.agreement_id, tenant_id=actor.tenant_id, buyer_tenant_id=accepted.tenant_id,
        supplier_tenant_id=accepted.supplier_tenant_id, author=side_of(target).value, number=accepted.number,
        version=target.version + 1, created_at=at, updated_at=at,
    )  # fmt: skip
    draft.assign({name: getattr(accepted, name) for name in AgreementTerms.HEADER})
    _take_lines(draft, orjson.loads(lines.value() or b"[]"))
    return draft


def _rebased(draft: AgreementDraft) -> list[str]:
    """Let a draft follow the accepted version of now: whoever edits it confirms its terms. The author stays bound."""
    if draft.id == draft.agreement_id:
        return []
    buyer = draft.buyer_tenant_id
    _, found, _ = run([bind_call(buyer), versions_call(buyer, draft.agreement_id), bind_call(draft.tenant_id)])
    versions = versions_of(found)
    return draft.assign({"base_revision": versions.accepted, "revision": versions.newest + 1})


def _finish(
    actor: Actor,
    draft: AgreementDraft,
    calls: Sequence[Call],
    kind: type[PriceAgreementEvent],
    at: datetime,
    reading: ReadBack | None,
) -> None:
    """Write a draft, record the fact and read the answer, in one trip."""
    told = ledger.statements(
        actor=actor, event=event_of(kind, draft, by=draft.author), resource_id=draft.agreement_id, at=at,
        resource_version=draft.version,
    )  # fmt: skip
    read = [reading.call(draft.id)] if reading else []
    found = run([*calls, *told, *read])
    if reading:
        reading.rows = found[-1]


def event_of(kind: type[PriceAgreementEvent], row: AgreementDraft | PriceAgreement, *, by: str) -> PriceAgreementEvent:
    """Return the fact of a draft or version, as it stands now."""
    buyer, status, reason = (
        (row.buyer_tenant_id, DRAFT, "")
        if isinstance(row, AgreementDraft)
        else (row.tenant_id, str(row.status), row.reason)
    )
    return kind(
        supplier_id=str(row.supplier_tenant_id),
        buyer_id=str(buyer),
        agreement_number=row.number or None,
        revision=row.revision,
        status=status,
        by=by,
        reason=reason,
    )
