"""The prescription that a write concerns: found in the caller's tenant, locked in its owner's, with what actions need.

One trip binds the owner and reads the locked row, its items, its latest route, the items' resources in the record, the
owner's policies, the zone in which its days are counted, and what the caller is called.
Source: contract, prescriptions.md "Two parties".
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import InvalidTransition, NotFound
from core.model_rows import lock_call, row_of, rows_of
from core.pipeline import Call, Rows, Statement, run
from core.targets import Located
from fhir_api import public as record
from organizations import public as organizations
from organizations.public import SharedDocument
from prescriptions.states import ALLOWED

from .chain import Witness
from .copies import PRESCRIPTIONS
from .models import Prescription, PrescriptionItem, Route
from .refusals import OwnerClosed, WrongPharmacy
from .sealing import unseal

Judge = Callable[[Actor, "LockedPrescription"], None]


class People(NamedTuple):
    """Whom a prescription is for, and who is to sign it, "" for nobody yet; ids of the record."""

    patient_id: str
    prescriber_id: str


_ITEMS = Statement.of(
    f"SELECT {', '.join(str(field.column) for field in PrescriptionItem._meta.concrete_fields)}"
    " FROM prescriptions_prescriptionitem WHERE tenant_id = $1 AND prescription_id = $2 ORDER BY line FOR UPDATE"
)
_ROUTE = Statement.of(
    f"SELECT {', '.join(f'r.{field.column}' for field in Route._meta.concrete_fields)}"
    " FROM prescriptions_prescription t JOIN prescriptions_route r ON r.tenant_id = t.tenant_id AND r.id = t.route_id"
    " WHERE t.tenant_id = $1 AND t.id = $2 AND r.tenant_id = $1 FOR UPDATE OF r"
)
_OWNER = Statement.of(
    "SELECT n.status, n.time_zone, n.settings_version::text FROM organizations_tenant n WHERE n.id = $1"
)
_ZONE = Statement.of(
    "SELECT l.time_zone FROM prescriptions_prescription t"
    " JOIN organizations_location l ON l.tenant_id = t.tenant_id AND l.id = t.location_id"
    " WHERE t.tenant_id = $1 AND t.id = $2 AND l.tenant_id = $1"
)
_CLOSED_PARTIES = Statement.of(
    "SELECT DISTINCT n.id::text FROM prescriptions_route r JOIN organizations_tenant n ON n.id = r.dispenser_tenant_id"
    " WHERE r.tenant_id = $1 AND r.prescription_id = $2 AND n.status = 'closed'"
)
_JWS = Statement.of("SELECT s.jws FROM prescriptions_snapshot s WHERE s.tenant_id = $1 AND s.prescription_id = $2")
RESOURCES = record.ResourcesOf(
    "MedicationRequest",
    "SELECT i.id::text FROM prescriptions_prescriptionitem i"
    " WHERE i.tenant_id = $1 AND i.prescription_id = ANY($2::uuid[])",
)
CLOSED = "closed"


@dataclass(frozen=True, slots=True, eq=False)
class LockedPrescription(SharedDocument):
    """A locked prescription with its items and its latest route, the owner's policies and the zone of its days.

    `resources` are those of its items in the owner's record. `closed` are those of its pharmacies whose tenants are
    closed: nobody is there to be told.
    """

    items: tuple[PrescriptionItem, ...]
    route: Route | None
    policies: Mapping[str, Any]
    zone: ZoneInfo
    settings_version: int
    witness: Witness
    jws: str
    resources: record.Held
    closed: frozenset[UUID] = frozenset()

    @property
    def is_at_caller(self) -> bool:
        """Tell whether the latest route leads to the caller's tenant."""
        found: bool = self.row.dispenser_tenant_id == self.actor.tenant_id
        return found


def demand(prescription: Any, action: str) -> None:
    """Refuse an action that the status does not admit.

    :raises InvalidTransition: with the words of the paths.
    """
    allowed = ALLOWED[prescription.status]
    if action not in allowed:
        raise InvalidTransition(state=prescription.status, action=action, allowed=allowed)


class Judged(Located):
    """A `find` that judges a repeated request again before its answer is replayed."""

    __slots__ = ()

    @abstractmethod
    def judge_again(self, actor: Actor, *path: Any) -> None:
        """Refuse whoever may no longer act on the object of the path."""


@dataclass(frozen=True, slots=True, eq=False)
class Owned(Judged):
    """The `find` of an operation of the owner; `judge` is its object rule, asked of the locked row."""

    judge: Judge | None = None

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the prescription among the caller's own, with its people."""
        return Call(_OWN, [str(path[0]), str(tenant_id)])

    def reads_behind(self, actor: Actor, prescription_id: UUID, people: People) -> Sequence[Call]:
        """Return statements that read behind the lock of the prescription, in its trip."""
        return ()

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> LockedPrescription:
        """Lock and return the prescription.

        :raises NotFound: the tenant has no such prescription, or it is at a place beyond the caller's.
        """
        if not len(located):
            raise NotFound("No such prescription.")
        (people,) = located.of(People)
        found = _locked(actor, actor.tenant_id, path[0], self.reads_behind(actor, path[0], people))
        if not WITHIN.holds(actor, found.row.location_id):
            raise NotFound("No such prescription.")
        now = People(found.row.patient_id, found.row.prescriber_id)
        if now != people and found.read:  # they were changed between the look-up and the lock
            found = replace(found, read=run(self.reads_behind(actor, path[0], now)))
        if self.judge:
            self.judge(actor, found)
        return found

    @needs_transaction
    def judge_again(self, actor: Actor, *path: Any) -> None:
        """Judge by the row as it is now.

        :raises NotFound: it is at a place beyond the caller's.
        """
        (located,) = run([self.locate(actor.tenant_id, *path)])
        self(actor, *path, located=located)


_OWN = Statement.of(
    "SELECT t.patient_id, t.prescriber_id FROM prescriptions_prescription t WHERE t.id = $1 AND t.tenant_id = $2",
    row=People,
)
WITHIN = organizations.reach("location_id", null=True)


@dataclass(frozen=True, slots=True, eq=False)
class AtPharmacy(Judged):
    """The `find` of an operation of the pharmacy that holds the prescription by its latest route."""

    judge: Judge | None = None

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the received copy, which names the owner."""
        return Call(_RECEIVED, [str(path[0]), str(tenant_id)])

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> LockedPrescription:
        """Bind the owner, and lock and return the prescription.

        :raises NotFound: the pharmacy does not hold the prescription, or no longer.
        :raises OwnerClosed: the owner's tenant is closed.
        :raises WrongPharmacy: it is at another place than the caller's.
        """
        if not len(located):
            raise NotFound("No such prescription.")
        found = _locked(actor, UUID((located.value() or b"").decode()), path[0])
        if not (found.is_at_caller and found.row.is_routed_live):
            raise NotFound("No such prescription.")
        demand_place(actor, found.row.pharmacy_location_id)
        if self.judge:
            self.judge(actor, found)
        return found

    @needs_transaction
    def judge_again(self, actor: Actor, *path: Any) -> None:
        """Judge by the place to which the prescription was routed, which the copy keeps.

        :raises WrongPharmacy: it is not among the caller's places.
        """
        (held,) = run([Call(_PLACE, [str(path[0]), str(actor.tenant_id)])])
        if len(held):
            demand_place(actor, UUID((held.value() or b"").decode()))


_PLACE = Statement.of(
    "SELECT c.pharmacy_location_id::text FROM prescriptions_receivedprescription c WHERE c.id = $1 AND c.tenant_id = $2"
)
_RECEIVED = Statement.of(
    "SELECT c.owner_tenant_id::text FROM prescriptions_receivedprescription c WHERE c.id = $1 AND c.tenant_id = $2"
)


def demand_place(actor: Actor, location_id: UUID) -> None:
    """Refuse who works at other places of the pharmacy.

    :raises WrongPharmacy: the membership is limited to places, and this is none of them.
    """
    if actor.location_ids and location_id not in actor.location_ids:
        raise WrongPharmacy


@needs_transaction
def locked(actor: Actor, owner_id: UUID, prescription_id: UUID) -> LockedPrescription:
    """Bind the owner, and lock and return a prescription; for jobs and for other ways than by its id.

    :raises NotFound: the owner has no such prescription.
    :raises OwnerClosed: another tenant's prescription is asked for, and that tenant is closed.
    """
    return _locked(actor, owner_id, prescription_id)


def _locked(actor: Actor, owner_id: UUID, prescription_id: UUID, behind: Sequence[Call] = ()) -> LockedPrescription:
    """As `locked`; `behind` are statements for the same trip, whose rows the prescription has as `read`."""
    is_owner = owner_id == actor.tenant_id
    name = [organizations.display_name_call(actor.subject_id)] if is_owner else []
    own, resources = _calls(owner_id, prescription_id), RESOURCES.hold_calls(owner_id, [prescription_id])
    calls = [*owner_calls(owner_id), *own, *resources, *name]
    _, owner, policies, key, *found = run([*calls, *behind])
    read = [found.pop() for _ in behind][::-1]
    named = found.pop() if is_owner else None
    kept = RESOURCES.held(found[len(own) :])
    held = OwnerOf(actor, owner_id, owner, policies, named, kept)
    if not is_owner and held.status == CLOSED:  # its key was destroyed
        raise OwnerClosed
    organizations.keep_tenant_key(owner_id, key)
    target = held.locked(found[: len(own)])
    if target is None:
        raise NotFound("No such prescription.")
    return replace(target, read=read) if read else target


def owner_calls(owner_id: UUID) -> list[Call]:
    """Bind the owner, and read its tenant, its policies and its key."""
    reads = [
        Call(_OWNER, [str(owner_id)]),
        organizations.policies_call(owner_id),
        organizations.tenant_key_call(owner_id),
    ]
    return [bind_call(owner_id), *reads]


def _calls(owner_id: UUID, prescription_id: UUID) -> list[Call]:
    """Lock a prescription and what belongs to it; `OwnerOf.locked` takes the rows."""
    keys = [str(owner_id), str(prescription_id)]
    return [
        lock_call(Prescription, owner_id, prescription_id),
        Call(_ITEMS, keys),
        Call(_ROUTE, keys),
        Call(PRESCRIPTIONS.parties, [str(prescription_id), str(owner_id)]),
        Call(_ZONE, keys),
        Call(_JWS, keys),
        Call(_CLOSED_PARTIES, keys),
    ]


@dataclass(frozen=True, slots=True)
class Belongings:
    """What belongs to one prescription; `zone` is that of its place, `jws` the sealed signature, "" for none."""

    items: tuple[PrescriptionItem, ...]
    route: Route | None
    parties: frozenset[UUID]
    closed: frozenset[UUID]
    zone: str
    jws: str


class OwnerOf:
    """What several prescriptions of one owner share when they are locked."""

    def __init__(
        self, actor: Actor, owner_id: UUID, owner: Rows, policies: Rows, name: Rows | None, resources: record.Held
    ) -> None:
        self.status, self._zone, settings_version = ((value or b"").decode() for value in owner.row())
        self._settings_version = int(settings_version)
        self._actor, self._owner_id, self._resources = actor, owner_id, resources
        self._policies = organizations.policies_of(policies)
        display = organizations.display_name_of(name) if name is not None else ""
        self._witness = Witness(actor, display, owner_id == actor.tenant_id)

    def locked(self, found: Sequence[Rows]) -> LockedPrescription | None:
        """Return a prescription by the rows of `_calls`; None where there is none."""
        locked, items, routes, parties, zone, jws, closed = found
        row = row_of(Prescription, locked)
        if row is None:
            return None
        belongings = Belongings(
            items=tuple(rows_of(PrescriptionItem, items)),
            route=row_of(Route, routes),
            parties=_ids(parties),
            closed=_ids(closed),
            zone=(zone.value() or b"").decode() if len(zone) else "",
            jws=(jws.value() or b"").decode() if len(jws) else "",
        )
        return self.made(row, belongings)

    def made(self, row: Prescription, found: Belongings) -> LockedPrescription:
        """Return a locked prescription by its row and what belongs to it."""
        return LockedPrescription(
            kind=PRESCRIPTIONS,
            actor=self._actor,
            row=row,
            parties=found.parties,
            items=found.items,
            route=found.route,
            policies=self._policies,
            zone=ZoneInfo(found.zone or self._zone),
            settings_version=self._settings_version,
            witness=self._witness,
            jws=unseal(self._owner_id, row.id, found.jws) if found.jws else "",
            resources=self._resources,
            closed=found.closed,
        )


def _ids(found: Rows) -> frozenset[UUID]:
    return frozenset(UUID((found.value(number) or b"").decode()) for number in range(len(found)))
