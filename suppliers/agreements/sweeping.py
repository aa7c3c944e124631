"""What happens to agreements by themselves: they expire, end by their notice, and are told of 30 days before they expire.

The day is that at the supplier. All is safe to run twice and in several workers: what another holds is waited for, and
looked at again under its lock. Source: contract, supply-price.md 5.
"""

from collections import defaultdict
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from core.actor import system_actor
from core.arrays import array_literal
from core.db import needs_transaction, tenant_context
from core.model_rows import rows_of, save_all_call
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from core.watermark import begin_batch
from ledger import public as ledger
from organizations import public as organizations
from suppliers.rounds import by_rounds

from .drafts import event_of
from .events import PriceAgreementEvent, PriceAgreementExpired, PriceAgreementExpiring
from .force import force_call
from .life import SYSTEM, clear_audience
from .models import AGREEMENTS, PriceAgreement
from .states import ACCEPTED

_EXPIRE: Final = "suppliers.expire_agreements"
_EASTERNMOST: Final = timedelta(hours=14)  # there it is tomorrow first
_BATCH: Final = 20  # of agreements with up to 10,000 lines each
_rounds = Rounds()
_COLUMNS = ", ".join(f't."{field.column}"' for field in PriceAgreement._meta.concrete_fields)
_FROM = (
    " FROM suppliers_priceagreement t JOIN organizations_tenant n ON n.id = t.supplier_tenant_id"
    " CROSS JOIN LATERAL (SELECT ($2::timestamptz AT TIME ZONE n.time_zone)::date AS today) d"
    " WHERE t.tenant_id = $1 AND t.status IN ('active', 'suspended') AND t.due_on <= d.today"
)
_LOCK_DUE = Statement.of(f"SELECT {_COLUMNS}{_FROM} ORDER BY t.id LIMIT {_BATCH} FOR UPDATE OF t")


class _Supplier(NamedTuple):
    """The supplier of a locked agreement: the date there, and whether somebody reads its copies."""

    id: UUID
    today: date
    reads: bool


_SUPPLIERS = Statement.of(
    f"SELECT DISTINCT n.id, d.today, n.managed_by_id IS NULL AND n.status <> 'closed' AS reads{_FROM}", row=_Supplier
)
_TOLD = Statement.of(
    "UPDATE suppliers_priceagreement SET expiring_at = $3 WHERE tenant_id = $1 AND id = ANY($2::uuid[])"
)


def expire_agreements(*, at: datetime, go_on: GoOn = ever) -> int:
    """End the agreements whose last day is over by the date at their supplier, and tell of those that end in 30 days.

    Return how many were worked on.
    """
    return by_rounds(_EXPIRE, _rounds, _due((at + _EASTERNMOST).date()), _batch, at, go_on, batch=_BATCH)


def _due(today: date) -> "QuerySet[PriceAgreement]":
    found: QuerySet[PriceAgreement] = PriceAgreement.objects.filter(status__in=ACCEPTED, due_on__lte=today)
    return found


def _batch(tenant_id: UUID, at: datetime) -> int:
    with tenant_context(tenant_id):
        return _advance(tenant_id, begin_batch(tenant_id, at))


@needs_transaction
def _advance(tenant_id: UUID, at: datetime) -> int:
    """Lock the agreements of a buyer that are due, and do what is due."""
    given = [str(tenant_id), at.isoformat()]
    locked, found = run([Call(_LOCK_DUE, given), Call(_SUPPLIERS, given)])
    rows = rows_of(PriceAgreement, locked)
    if not rows:
        return 0
    suppliers = {one.id: one for one in found.of(_Supplier)}
    work = _Work(at)
    for row in rows:
        work.add(row, suppliers[row.supplier_tenant_id])
    actor = system_actor(tenant_id)
    calls = work.calls(tenant_id)
    if work.ended:
        clear_audience(work.ended)
        touched = [(AGREEMENTS, row.id) for row in work.ended]
        organizations.write_documents(actor, tenant_id, touched, calls, told=work.told(), at=at)
    else:
        run(calls)
        ledger.record_for(work.told(), actor=actor, at=at)
    return len(rows)


class _Work:
    """What becomes of the locked agreements of one buyer, and what both parties are told."""

    def __init__(self, at: datetime) -> None:
        self.at = at
        self.ended: list[PriceAgreement] = []
        self._expiring: list[PriceAgreement] = []
        self._news: list[tuple[type[PriceAgreementEvent], PriceAgreement, _Supplier]] = []

    def add(self, row: PriceAgreement, supplier: _Supplier) -> None:
        """Do what is due for an agreement by the date at its supplier; the end of a notice was told when it was given."""
        if row.terminates_on is not None and row.terminates_on <= supplier.today:
            row.terminate(self.at)
            self.ended.append(row)
        elif row.valid_to <= supplier.today:
            row.expire(self.at)
            self.ended.append(row)
            self._news.append((PriceAgreementExpired, row, supplier))
        else:
            self._expiring.append(row)
            self._news.append((PriceAgreementExpiring, row, supplier))

    def calls(self, tenant_id: UUID) -> list[Call]:
        """Return the statements that save it, bound to the buyer."""
        calls: list[Call] = []
        if self.ended:
            saved = save_all_call(
                self.ended, "status", "ended_at", at=self.at, versions=("version", AGREEMENTS.version)
            )
            calls += [saved, *(force_call(tenant_id, row.id, in_force=False) for row in self.ended)]
        if self._expiring:
            ids = array_literal(row.id for row in self._expiring)
            calls.append(Call(_TOLD, [str(tenant_id), ids, self.at.isoformat()]))
        return calls

    def told(self) -> dict[UUID, list[ledger.Occurrence]]:
        """Return what buyer and suppliers are told; the versions are to be raised before."""
        told: dict[UUID, list[ledger.Occurrence]] = defaultdict(list)
        for kind, row, supplier in self._news:
            more: dict[str, Any] = {"valid_to": str(row.valid_to)} if kind is PriceAgreementExpiring else {}
            event = replace(event_of(kind, row, by=SYSTEM), **more)
            told[row.tenant_id].append(ledger.Occurrence(event, row.agreement_id, row.version))
            if supplier.reads:
                told[supplier.id].append(ledger.Occurrence(event, row.agreement_id, row.shared_version))
        return told
