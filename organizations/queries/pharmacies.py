"""The pharmacy that a location is, where a prescription may lead. Source: contract, organizations.md "pharmacies: the door"."""

from typing import Any, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement, run
from organizations.refusals import PharmacyNotFound


class Pharmacy(NamedTuple):
    """A dispensing location; `address` is as the directory shows it, None where there is none."""

    location_id: UUID
    tenant_id: UUID
    name: str
    address: Any


_PHARMACY = Statement.of(
    """
SELECT l.id AS location_id, l.tenant_id, l.name, coalesce(l.address, 'null') AS address FROM organizations_location l
 WHERE l.tenant_id = $2 AND l.id = $1 AND l.is_dispensing AND l.status = 'active'
UNION ALL
SELECT p.id, p.tenant_id, p.name, coalesce(p.address, 'null')
  FROM organizations_pharmacylisting p JOIN organizations_tenant t ON t.id = p.tenant_id
 WHERE p.id = $1 AND p.tenant_id <> $2 AND t.status = 'active' AND 'prescriptions' = ANY (t.features)
""",
    row=Pharmacy,
)

_OWN = Statement.of(
    "SELECT l.id AS location_id, l.tenant_id, l.name, coalesce(l.address, 'null') AS address FROM organizations_location l"
    " WHERE l.tenant_id = $1 AND l.is_dispensing AND l.status = 'active'"
    " AND ($2::uuid[] = '{}' OR l.id = ANY($2::uuid[])) ORDER BY l.id LIMIT 2",
    row=Pharmacy,
)


def own_pharmacies_call(actor: Actor) -> Call:
    """Return the call that finds up to two active dispensing locations of the actor's own tenant that are in reach."""
    return Call(_OWN, [str(actor.tenant_id), array_literal(actor.location_ids)])


def only_pharmacy_of(rows: Rows) -> Pharmacy | None:
    """Return the location that `own_pharmacies_call` found if there is exactly one, else None."""
    found = rows.of(Pharmacy)
    return found[0] if len(found) == 1 else None


def pharmacy_call(location_id: UUID, actor: Actor) -> Call:
    """Return the call that finds a pharmacy, to travel with others; the actor's tenant must be bound."""
    return Call(_PHARMACY, [str(location_id), str(actor.tenant_id)])


def pharmacy_of(rows: Rows) -> Pharmacy:
    """Return the pharmacy that `pharmacy_call` found.

    :raises PharmacyNotFound: it found none.
    """
    found = rows.of(Pharmacy)
    if not found:
        raise PharmacyNotFound
    return found[0]


def pharmacy(location_id: UUID, actor: Actor) -> Pharmacy:
    """Return a listed location of an active tenant with prescriptions, or an active dispensing location of the actor's own.

    The actor's tenant must be bound.

    :raises PharmacyNotFound: the location is neither.
    """
    return pharmacy_of(run([pharmacy_call(location_id, actor)])[0])
