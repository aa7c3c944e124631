"""What a merge would move, what stands against it, and what staff should know before: the preview, and the check behind the locks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction, tenant_context
from core.errors import FieldError
from suppliers.agreements.models import AgreementDraft, PriceAgreement
from suppliers.agreements.states import ACCEPTED, AgreementStatus
from suppliers.invoices.models import Invoice
from suppliers.orders.models import PurchaseOrder
from suppliers.orders.number_models import DocumentNumber
from suppliers.orders.states import DocumentKind, OrderStatus
from suppliers.relationships.models import ManagedSupplier

from .parties import Parties, parties_of
from .refusals import MergeRefused
from .tables import COLUMN, SORTS

MOST_DOCUMENTS: Final = 2_000  # in one transaction, within the seconds that a request of staff may take
QUICK_DOCUMENTS: Final = 500  # within the two seconds that others wait for a lock
_SHOWN: Final = 10
_OPEN_AGREEMENTS: Final = (AgreementStatus.PROPOSED.value, *ACCEPTED)


@dataclass(frozen=True, slots=True)
class Survey:
    """The numbers of documents by sort, what refuses the merge, and what staff should know of it, as sentences."""

    parties: Parties
    counts: dict[str, int]
    conflicts: list[FieldError]
    notes: list[str]

    @property
    def moved(self) -> str:
        """The numbers in words."""
        return ", ".join(f"{name}: {number}" for name, number in self.counts.items() if number) or "no documents"

    def require_free(self) -> None:
        """Require that nothing stands against the merge.

        :raises MergeRefused: names all that does.
        """
        if self.conflicts:
            raise MergeRefused(errors=self.conflicts)


@needs_transaction
def survey(actor: Actor, row: ManagedSupplier, into_id: UUID) -> Survey:
    """Look at what a merge of a managed supplier of the actor's tenant would do; nothing is written."""
    parties = parties_of(actor, row, into_id)
    if parties.managed.status == "closed":
        gone = parties.managed.merged_into
        message = f"It was merged into the supplier {gone}." if gone else "The managed supplier is closed."
        return Survey(parties, {}, [FieldError("", "already_merged" if gone else "party_closed", message)], [])
    counts = _counts(actor, row.supplier_id)
    conflicts = [*_of_buyer(parties), *_of_supplier(parties), *_of_documents(actor, parties, sum(counts.values()))]
    return Survey(parties, counts, conflicts, [*_notes(actor, parties), *_slow(sum(counts.values()))])


def _counts(actor: Actor, managed_id: UUID) -> dict[str, int]:
    mine = {COLUMN: managed_id}
    found = {one.name: one.model.objects.of(actor).filter(**mine).count() for one in SORTS}
    return found | {"drafts of price agreements": AgreementDraft.objects.of(actor).filter(**mine).count()}


def _of_buyer(parties: Parties) -> Iterator[FieldError]:
    """Yield what the buyer, its managed supplier and its relationship to the other one say against the merge."""
    if parties.managed.managed_by != parties.buyer.id:
        yield FieldError("", "not_managed", "The supplier is not managed by this buyer.")
    if parties.managed.legal_hold:
        yield FieldError("", "legal_hold", "The managed supplier is under a legal hold.")
    if parties.buyer.status != "active":
        yield FieldError("", "party_closed", f"The buyer's tenant is {parties.buyer.status}.")
    if parties.new is not None and parties.new.blocks:
        message = f"The buyer's relationship to the supplier blocks {', '.join(parties.new.blocks)}."
        yield FieldError("", "relationship_blocked", message)


def _of_supplier(parties: Parties) -> Iterator[FieldError]:
    """Yield what the supplier that would take over says against the merge."""
    buyer, into = parties.buyer, parties.into
    if into.id == buyer.id:
        yield FieldError("into", "self_trade", "The supplier is the buyer itself.")
    elif not into.is_supplier or into.managed_by is not None:
        yield FieldError("into", "not_a_supplier", "This tenant is no supplier on the platform.")
    elif not parties.is_qualified:
        yield FieldError("into", "supplier_not_qualified", "The supplier is not active and qualified.")
    if into.environment != buyer.environment:
        message = f"The buyer is a {buyer.environment} tenant, the supplier a {into.environment} one."
        yield FieldError("into", "environment_differs", message)


def _of_documents(actor: Actor, parties: Parties, count: int) -> Iterator[FieldError]:
    """Yield what the documents say against the merge."""
    mine = {COLUMN: parties.managed.id}
    if count > MOST_DOCUMENTS:
        message = f"{count} documents are to be moved, at most {MOST_DOCUMENTS} can be."
        yield FieldError("", "too_many_documents", message)
    waiting = PurchaseOrder.objects.of(actor).filter(**mine, status=OrderStatus.PENDING_APPROVAL.value)
    if numbers := _listed(waiting, "number"):
        yield FieldError("", "order_pending_approval", f"Orders wait for an approval: {numbers}.")
    agreed = PriceAgreement.objects.of(actor).filter(**mine, status__in=_OPEN_AGREEMENTS)
    if numbers := _listed(agreed, "number"):
        message = f"The supplier has not accepted these price agreements, which the buyer has to end before: {numbers}."
        yield FieldError("", "open_agreement", message)
    if taken := _taken_numbers(actor, parties):
        message = (
            f"The supplier has issued other invoices with these numbers: {', '.join(taken[:_SHOWN])}{_rest(taken)}."
        )
        yield FieldError("", "invoice_number_taken", message)


def _listed(rows: Any, column: str) -> str:
    found = [str(one) for one in rows.order_by("created_at", "id").values_list(column, flat=True)]
    return f"{', '.join(found[:_SHOWN])}{_rest(found)}" if found else ""


def _rest(found: list[str]) -> str:
    return f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""


def _taken_numbers(actor: Actor, parties: Parties) -> list[str]:
    """Return the numbers of the managed supplier's invoices that the other one has given to documents of its own."""
    numbers = [*Invoice.objects.of(actor).filter(**{COLUMN: parties.managed.id}).values_list("number", flat=True)]
    with tenant_context(parties.into.id):
        held = DocumentNumber.objects.filter(
            tenant_id=parties.into.id, kind=DocumentKind.INVOICE.value, number__in=numbers
        )
        return sorted(held.values_list("number", flat=True))


def _slow(count: int) -> Iterator[str]:
    if count > QUICK_DOCUMENTS:
        yield "So many documents take seconds, in which orders to the supplier are refused as busy: choose a quiet hour."


def _notes(actor: Actor, parties: Parties) -> Iterator[str]:
    """Yield what does not refuse the merge, but may tell that it is the wrong one, or what it does beside."""
    profile = parties.profile
    pairs = [
        {(one["scheme"], one["value"]) for one in found.registrations} for found in (parties.row, profile) if found
    ]
    if len(pairs) == 1 or not pairs[0] & pairs[1]:
        yield "The two suppliers have no registration in common: make sure that they are the same company."
    if profile is not None and profile.country != parties.row.country:
        yield f"The managed supplier is in {parties.row.country}, the other one in {profile.country or 'no country'}."
    used = {*PurchaseOrder.objects.of(actor).filter(**{COLUMN: parties.managed.id}).values_list("currency", flat=True)}
    if strange := sorted(used - {*(profile.currencies if profile else ())}):
        yield f"Orders are in currencies that the supplier does not name: {', '.join(strange)}. They keep them."
    drafts = (
        PurchaseOrder.objects.of(actor).filter(**{COLUMN: parties.managed.id}, status=OrderStatus.DRAFT.value).count()
    )
    if drafts:
        yield f"Drafts of orders in words: {drafts}. The buyer has to name products in them before they can be sent."
    if parties.new is not None:
        yield "The buyer has a relationship to the supplier: its settings stay, those to the managed one go."
    elif parties.old is not None:
        yield "The buyer's relationship to the managed supplier becomes the one to the other supplier."
