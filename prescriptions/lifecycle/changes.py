"""What one request does to one locked prescription, collected and then written in one go.

    change = Change(target, at)
    target.row.sign(at)
    change.enter("signed", before=before)
    change.save("status", "signed_at")
    return change.commit(reading)

`commit` writes the next version of the row, one entry of the audit history for each step, one event for each entry in the
owner's tenant and those that the pharmacy is to hear, the resources of the record, and the copies of other tenants.
`commit_all` does so for several prescriptions of one owner.
Source: contract, prescriptions.md "Lifecycle" (version) and "Events".
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from core import rows
from core.actor import SubjectKind
from core.db import bind_call
from core.model_rows import save_all_call, save_call
from core.pipeline import Call, ReadBack, Statement
from fhir_api import public as record
from ledger import public as ledger
from organizations import public as organizations
from organizations.public import ReceivedKind
from prescriptions.states import RouteState

from . import events
from .chain import Act, entry_calls, entry_rows
from .chain_models import AuditEntry, AuditOrigin
from .copies import PRESCRIPTIONS
from .medication_requests import Json, Projected, medication_requests
from .models import Prescription, PrescriptionItem, Route
from .targets import LockedPrescription

OVERRIDE_RECORDED = "override_recorded"
_CHAIN = ("chain_length", "chain_hash")
_CHAIN_GROWN = Statement.of(
    "UPDATE prescriptions_prescription SET chain_length = $3, chain_hash = $4 WHERE tenant_id = $1 AND id = $2"
)
Told = dict[UUID, list[tuple[str, dict[str, Any]]]]


@dataclass(frozen=True, slots=True)
class _Written:
    """Statements, documents whose copies follow, and resources of the record, of one change; `made` are ids that are new."""

    calls: list[Call]
    touched: list[tuple[ReceivedKind, UUID]]
    resources: list[Json]
    made: set[str]


@dataclass(slots=True, eq=False)
class Change:
    """One change of one prescription; `by` is the side that acts, `made` are ids of resources that are written first.

    `calls` run behind the statement that saves the prescription, `leading` before it.
    """

    target: LockedPrescription
    at: datetime
    by: str = ""
    columns: set[str] = field(default_factory=set)
    leading: list[Call] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    told: Told = field(default_factory=dict)
    resources: list[Json] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    touched: list[tuple[ReceivedKind, UUID]] = field(default_factory=list)
    others: dict[UUID, list[ledger.Occurrence]] = field(default_factory=dict)
    gone: list[PrescriptionItem] = field(default_factory=list)
    items: tuple[PrescriptionItem, ...] | None = None
    received: list[Call] = field(default_factory=list)
    route: Route | None = None
    jws: str = ""

    @property
    def row(self) -> Prescription:
        """The prescription."""
        found: Prescription = self.target.row
        return found

    def enter(self, action: str, *, before: str | None = None, to_pharmacy: bool = False, **details: Any) -> None:
        """Add one step to the history; the status is what it is now, `before` what it was, if another."""
        now = self.row.status
        self.acts.append(Act(action, before or now, now, details))
        if action != OVERRIDE_RECORDED:
            self.tell(self.target.owner_id, action)
            if to_pharmacy and self.row.dispenser_tenant_id:
                self.tell(self.row.dispenser_tenant_id, action)

    def tell(self, tenant_id: UUID, action: str, **figures: Any) -> None:
        """Tell a tenant of a step; a tenant of both sides is told once."""
        told = self.told.setdefault(tenant_id, [])
        if action not in [known for known, _ in told]:
            told.append((action, figures))

    def measure(self, action: str, **figures: Any) -> None:
        """Add figures to what the pharmacy is told of a step; they stay in the ledger."""
        for place, (known, _) in enumerate(told := self.told.get(self.row.dispenser_tenant_id or UUID(int=0), [])):
            if known == action:
                told[place] = (known, figures)

    def save(self, *columns: str) -> None:
        """Name columns of the prescription that have changed."""
        self.columns.update(columns)

    def save_item(self, item: PrescriptionItem, *columns: str) -> None:
        """Save columns of an item."""
        self.calls.append(save_call(item, *columns, at=self.at))

    def save_route(self, *columns: str) -> None:
        """Save columns of the latest route; the prescription follows its state."""
        route = self.target.route
        assert route is not None
        self.calls.append(save_call(route, *columns, at=self.at))
        if self.row.route_state != route.state:
            self.row.route_state = RouteState(route.state)
            self.save("route_state")

    def commit(
        self,
        reading: ReadBack | None = None,
        *,
        answers: tuple[ReceivedKind, UUID] | None = None,
        new: bool = False,
        versioned: bool = True,
    ) -> Prescription:
        """Write all of it. `reading` reads the prescription, or what `answers` names; `new` inserts the row.

        Without `versioned` the prescription stays as it is: entries are added to its history, its copies and its resources
        are not written again, and its version does not rise.
        """
        _write([self], self._written(new=new, versioned=versioned, answers=answers), reading)
        return self.row

    def _written(
        self, *, new: bool = False, versioned: bool = True, answers: tuple[ReceivedKind, UUID] | None = None
    ) -> "_Written":
        """Return what is to be written; the row in memory is the next version."""
        row, first = self.row, [answers] if answers else []
        entries = [call for act in self.acts for call in entry_calls(row, act, self.target.witness, at=self.at)]
        if not versioned:
            assert not self.columns, "columns of the prescription make a version"
            ends = Call(_CHAIN_GROWN, [str(row.tenant_id), str(row.id), str(row.chain_length), row.chain_hash])
            calls = [*self.leading, ends, *self.calls, *entries]
            return _Written(calls, self._copied(first), [], set())
        saved = self._inserted() if new else save_call(row, *sorted(self.columns), *_CHAIN, at=self.at)
        requests = self._requests()
        made = {*self.made, *(one["id"] for one in requests if new)}
        calls = [*self.leading, saved, *self.calls, *entries, *self._handed_over()]
        copied = self._copied([*first, (PRESCRIPTIONS, row.id)])
        return _Written(calls, copied, [*requests, *self.resources], made)

    def _copied(self, documents: Sequence[tuple[ReceivedKind, UUID]]) -> list[tuple[ReceivedKind, UUID]]:
        """Return the documents whose copies follow; before the first route nobody has any."""
        return list(dict.fromkeys([*documents, *self.touched])) if self.row.route_id else []

    def _handed_over(self) -> list[Call]:
        """What is written in the pharmacy's tenant beside the copy; the owner is bound again behind it."""
        return [*self.received, bind_call(self.target.owner_id)] if self.received else []

    def _inserted(self) -> Call:
        self.row.version = 1
        return rows.insert(self.row)

    def _requests(self) -> list[Json]:
        source = Projected(
            self.row,
            self.items or self.target.items,
            self.route or self.target.route,
            self.at,
            self.jws or self.target.jws,
        )
        return medication_requests(source, self.gone)

    def _occurrences(self) -> dict[UUID, list[ledger.Occurrence]]:
        row = self.row
        by = self.side
        found: dict[UUID, list[ledger.Occurrence]] = {
            tenant_id: [
                ledger.Occurrence(
                    events.KINDS[action](
                        number=row.number, status=row.status, route_state=row.route_state, by=by, **figures
                    ),
                    row.id,
                    row.version,
                )
                for action, figures in told
            ]
            for tenant_id, told in self.told.items()
        }
        for tenant_id, more in self.others.items():
            found.setdefault(tenant_id, []).extend(more)
        return {tenant_id: some for tenant_id, some in found.items() if tenant_id not in self.target.closed}

    @property
    def side(self) -> str:
        """The side that acts."""
        if self.by:
            return self.by
        actor = self.target.actor
        if actor.subject.kind is SubjectKind.SYSTEM:
            return events.PLATFORM
        return events.PRESCRIBER if self.target.is_owner else events.PHARMACY


def commit_all(changes: Sequence[Change]) -> None:
    """Write changes of several prescriptions that `locked_many` has locked together, at one time, with the statements of one.

    It is for a step that alters no content: the resources were valid before, and are not validated again.
    """
    if changes:
        _write(changes, _written_together(changes), validated=True)


def _written_together(changes: Sequence[Change]) -> _Written:
    """Return what is to be written of several prescriptions, a statement for each table; the rows are the next versions."""
    made = [entry_rows(one.row, act, one.target.witness, at=one.at) for one in changes for act in one.acts]
    entered = [rows.insert_all(AuditEntry, [entry for entry, _ in made])] if made else []
    entered += [rows.insert_all(AuditOrigin, [origin for _, origin in made])] if made else []
    columns = sorted({name for one in changes for name in one.columns})
    saved = save_all_call([one.row for one in changes], *columns, *_CHAIN, at=changes[0].at)
    leading = [call for one in changes for call in one.leading]
    calls = [call for one in changes for call in one.calls]
    received = [call for one in changes for call in one._handed_over()]
    touched = dict.fromkeys(document for one in changes for document in one._copied([(PRESCRIPTIONS, one.row.id)]))
    resources = [resource for one in changes for resource in (*one._requests(), *one.resources)]
    known = {key for one in changes for key in one.made}
    return _Written([*leading, saved, *calls, *entered, *received], list(touched), resources, known)


def _write(
    changes: Sequence[Change], written: _Written, reading: ReadBack | None = None, *, validated: bool = False
) -> None:
    target, at = changes[0].target, changes[0].at
    told: dict[UUID, list[ledger.Occurrence]] = {}
    for change in changes:
        for tenant_id, occurrences in change._occurrences().items():
            told.setdefault(tenant_id, []).extend(occurrences)
    projected = record.projection(
        target.owner, written.resources, at=at, held=target.resources, made=written.made, validated=validated
    )
    recorded, touched = projected.calls, written.touched
    actor, owner_id, found = target.actor, target.owner_id, [*recorded, *written.calls]
    if touched:
        done = organizations.write_documents(actor, owner_id, touched, found, told=told, at=at, reading=reading)
    else:
        done = organizations.write_unshared(actor, owner_id, target.row.id, found, told=told, at=at, reading=reading)
    projected.check(done[: len(recorded)])
