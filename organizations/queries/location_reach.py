"""The rows that a membership limited to certain locations may read and write.

A membership without locations reaches every row of its tenant, as do the platform's own actors and workers. A
membership with locations reaches only the rows at these locations; all others do not exist for it. Source: contract,
access.md, check 12.

    WITHIN = reach("location_id")

    def restrictions(self): return (WITHIN,)             # reads: a condition over `t`, without parameters
    WITHIN.filter(Appointment.objects.of(actor), actor)  # writes: the same rule for a queryset
    WITHIN.holds(actor, data["location_id"])            # a location that a body names
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import Q
from django.db.models.expressions import RawSQL

from core.actor import Actor
from core.conditions import TENANT, Condition
from core.db import BOUND_LOCATIONS
from organizations.ownership import TenantQuerySet

# UNION drops rows that were found before, so the walk ends even if the tree has a cycle.
_TREE = """
WITH RECURSIVE reached (id) AS (
    SELECT unnest({locations}::uuid[])
    UNION
    SELECT l.id FROM reached JOIN organizations_location l ON l.tenant_id = {tenant} AND l.parent_id = reached.id
)
SELECT id FROM reached
"""
_WHOLE = f"(cardinality({BOUND_LOCATIONS}) = 0) IS TRUE"
_TREE_BOUND = _TREE.format(locations=BOUND_LOCATIONS, tenant=TENANT)
_TREE_OF_ACTOR = _TREE.format(locations="%s", tenant="%s::uuid")


@dataclass(frozen=True, slots=True)
class LocationReach(Condition):
    """The rule for one kind of row, made by `reach`; it is itself the condition over the alias `t`."""

    fields: tuple[str, ...] = ()
    null: bool = False
    below: bool = False

    @property
    def whole(self) -> str:
        """SQL that tells whether every row of the tenant is in reach."""
        return _WHOLE

    def over(self, alias: str) -> Condition:
        """Return the condition over another alias; it is never NULL, so a statement may also negate it."""
        return Condition(_sql(_columns(alias, self.fields), null=self.null, below=self.below))

    def at(self, place: str) -> Condition:
        """Return the condition over a location that SQL finds otherwise than in a column; it is never NULL either."""
        return Condition(_sql([place], null=self.null, below=self.below))

    def filter(self, queryset: TenantQuerySet, actor: Actor) -> TenantQuerySet:
        """Keep the rows that the actor reaches."""
        return queryset.filter(self.q(actor))

    def q(self, actor: Actor) -> Q:
        """Return the rule as a `Q` for the rows of the actor's tenant."""
        found = Q()
        if not actor.location_ids:
            return found
        within = _tree_of(actor) if self.below else list(actor.location_ids)
        for field in self.fields:
            here = Q(**{f"{field}__in": within})
            found &= here | Q(**{f"{field}__isnull": True}) if self.null else here
        return found

    def holds(self, actor: Actor, *location_ids: UUID | None) -> bool:
        """Tell whether a row with these locations would be in reach; the locations need not exist."""
        if not actor.location_ids:
            return True
        within = _with_those_below(actor) if self.below else actor.location_ids
        return all(self.null if one is None else one in within for one in location_ids)


def reach(*fields: str, null: bool = False, below: bool = False) -> LocationReach:
    """Make the rule for rows whose columns `fields` hold locations; a row is in reach if all its locations are.

    :param null: a row without a location is in reach of every membership, as a prescription or an appointment without
        one; otherwise it is out of reach for a membership with locations.
    :param below: the locations within a membership's own are in reach too, as for trade documents.
        Source: contract, supply.md 3.5.
    """
    sql = _sql(_columns("t", fields), null=null, below=below)
    return LocationReach(sql, fields=fields, null=null, below=below)


def _columns(alias: str, fields: Sequence[str]) -> list[str]:
    return [f'{alias}."{field}"' for field in fields]


def _sql(columns: Sequence[str], *, null: bool, below: bool) -> str:
    """Build the condition over the bound locations, read once per statement; if none are bound, no row is in reach."""
    within = f"IN ({_TREE_BOUND})" if below else f"= ANY({BOUND_LOCATIONS}::uuid[])"
    each = [f"({column} IS NULL OR {column} {within})" if null else f"{column} {within}" for column in columns]
    return f"({BOUND_LOCATIONS} IS NOT NULL AND (cardinality({BOUND_LOCATIONS}) = 0 OR ({' AND '.join(each)}))) IS TRUE"


def _tree_of(actor: Actor) -> RawSQL:
    values = [list(actor.location_ids), actor.tenant_id]
    return RawSQL(_TREE_OF_ACTOR, values)  # noqa: S611  # nosec B611 - the text is a constant, the values are parameters


def _with_those_below(actor: Actor) -> frozenset[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(_TREE_OF_ACTOR, [list(actor.location_ids), actor.tenant_id])
        return frozenset(row[0] for row in cursor.fetchall())
