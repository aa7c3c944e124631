"""Several prescriptions of one owner, locked at once for a job: a statement for each table, whatever their number."""

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.model_rows import rows_of
from core.pipeline import Call, Rows, Statement, run
from organizations import public as organizations

from .models import Prescription, PrescriptionItem, Route
from .targets import CLOSED, RESOURCES, Belongings, LockedPrescription, OwnerOf, owner_calls


class _Party(NamedTuple):
    """A tenant to which a prescription was handed, and its state."""

    prescription_id: UUID
    tenant_id: UUID
    status: str


class _Zone(NamedTuple):
    """The time zone of the place of a prescription."""

    id: UUID
    time_zone: str


class _Jws(NamedTuple):
    """The sealed signature of a prescription."""

    prescription_id: UUID
    jws: str


_prescription = attrgetter("prescription_id")
# Each prescription is looked up by its key (OFFSET 0): a generic plan takes every tenant for a small one and might read it whole.
_EACH = (
    "unnest($2::uuid[]) AS wanted (id) CROSS JOIN LATERAL (SELECT p.id, p.route_id, p.location_id"
    " FROM prescriptions_prescription p WHERE p.tenant_id = $1 AND p.id = wanted.id OFFSET 0) AS t"
)
_LOCKED = Statement.of(
    f"SELECT {', '.join(f't.{field.column}' for field in Prescription._meta.concrete_fields)}"
    " FROM unnest($2::uuid[]) AS wanted (id) CROSS JOIN LATERAL (SELECT p.* FROM prescriptions_prescription p"
    " WHERE p.tenant_id = $1 AND p.id = wanted.id OFFSET 0 FOR UPDATE) AS t"
)
_ITEMS = Statement.of(
    f"SELECT {', '.join(str(field.column) for field in PrescriptionItem._meta.concrete_fields)}"
    " FROM prescriptions_prescriptionitem WHERE tenant_id = $1 AND prescription_id = ANY($2::uuid[])"
    " ORDER BY prescription_id, line FOR UPDATE"
)
_ROUTES = Statement.of(
    f"SELECT {', '.join(f'r.{field.column}' for field in Route._meta.concrete_fields)}"
    f" FROM {_EACH} JOIN prescriptions_route r ON r.id = t.route_id WHERE r.tenant_id = $1 ORDER BY t.id FOR UPDATE OF r"
)
_PARTIES = Statement.of(
    "SELECT DISTINCT r.prescription_id, n.id AS tenant_id, n.status FROM prescriptions_route r"
    " JOIN organizations_tenant n ON n.id = r.dispenser_tenant_id"
    " WHERE r.tenant_id = $1 AND r.prescription_id = ANY($2::uuid[]) ORDER BY r.prescription_id",
    row=_Party,
)
_ZONES = Statement.of(
    f"SELECT t.id, l.time_zone FROM {_EACH} CROSS JOIN LATERAL (SELECT o.time_zone FROM organizations_location o"
    " WHERE o.tenant_id = $1 AND o.id = t.location_id OFFSET 0) AS l",
    row=_Zone,
)
_JWS = Statement.of(
    "SELECT s.prescription_id, s.jws FROM prescriptions_snapshot s"
    " WHERE s.tenant_id = $1 AND s.prescription_id = ANY($2::uuid[])",
    row=_Jws,
)
_STATEMENTS = (_LOCKED, _ITEMS, _ROUTES, _PARTIES, _ZONES, _JWS)


@needs_transaction
def locked_many(actor: Actor, prescription_ids: Sequence[UUID]) -> list[LockedPrescription]:
    """Lock and return prescriptions of the actor's own tenant, which is bound, in one trip; by their ids.

    What does not exist is left out.
    """
    if not prescription_ids:
        return []
    keys = [str(actor.tenant_id), array_literal(sorted(prescription_ids))]
    name = organizations.display_name_call(actor.subject_id)
    reads, resources = [Call(one, keys) for one in _STATEMENTS], RESOURCES.hold_calls(actor.tenant_id, prescription_ids)
    calls = [*owner_calls(actor.tenant_id), name, *reads, *resources]
    _, owner, policies, key, named, locked, *found = run(calls)
    organizations.keep_tenant_key(actor.tenant_id, key)
    held = RESOURCES.held(found[-len(resources) :])
    shared = OwnerOf(actor, actor.tenant_id, owner, policies, named, held)
    belongings_of = _belongings(found[: -len(resources)])
    return [shared.made(row, belongings_of(row.id)) for row in rows_of(Prescription, locked)]


def _belongings(found: Sequence[Rows]) -> Callable[[UUID], Belongings]:
    """Return what tells the belongings of a prescription from the rows of the statements behind the first."""
    items, routes, parties, zones, sealed = found
    items_of = {key: tuple(some) for key, some in groupby(rows_of(PrescriptionItem, items), _prescription)}
    route_of = {route.prescription_id: route for route in rows_of(Route, routes)}
    parties_of = {key: list(some) for key, some in groupby(parties.of(_Party), _prescription)}
    zone_of, jws_of = dict(zones.of(_Zone)), dict(sealed.of(_Jws))

    def of(key: UUID) -> Belongings:
        handed = parties_of.get(key, ())
        return Belongings(
            items=items_of.get(key, ()),
            route=route_of.get(key),
            parties=frozenset(one.tenant_id for one in handed),
            closed=frozenset(one.tenant_id for one in handed if one.status == CLOSED),
            zone=zone_of.get(key, ""),
            jws=jws_of.get(key, ""),
        )

    return of
