"""Lanes: the parts that the tenants are cut into for the queues over all tenants.

Whoever claims rows of many tenants does so in one lane at a time: locks, advisory ones too, and SKIP LOCKED hold inside
the lane. `LANES` says how many there are. One PostgreSQL needs one; then no statement is narrowed and nothing is hashed.

A lane is a range of the hash by which a distributed PostgreSQL (Citus) places a tenant's rows, and is cut as its shards
are. With as many lanes as shards, a power of two, a lane is what one shard holds. All processes must agree on the number.

The function `hp_lane` is made after every migration (post_migrate).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar
from uuid import UUID

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, Func, IntegerField, Model, QuerySet
from django.db.models.lookups import Exact

Row = TypeVar("Row", bound=Model)

MOST: Final = 1024
HERE: Final = "/* in lane */"  # in a statement: where the condition goes; without it the statement is of all tenants

_CONDITION: Final = "AND hp_lane(tenant_id, %(lanes)s) = %(lane)s"
_FUNCTION: Final = """
CREATE OR REPLACE FUNCTION hp_lane(tenant uuid, lanes int) RETURNS int LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ((uuid_hash(tenant)::bigint + 2147483648) * lanes >> 32)::int
$$
"""


# The tenants of a queue, found by its index from one tenant's first row to the next one's, however many rows each has: a
# recursive part of a WITH, which goes on behind the tenant `after` for so many steps. The lane narrows what was found, not the
# walk, so that rows of other lanes are not read one by one.
_HOP: Final = """
hop (tenant_id, step) AS (
  (SELECT tenant_id, 1 FROM {table} WHERE {condition} AND tenant_id > %(after)s ORDER BY tenant_id LIMIT 1)
  UNION ALL
  SELECT following.tenant_id, hop.step + 1 FROM hop CROSS JOIN LATERAL (
    SELECT tenant_id FROM {table} WHERE tenant_id > hop.tenant_id ORDER BY tenant_id LIMIT 1) following
  WHERE hop.step < %(hops)s)"""
AFTER: Final = "(SELECT CASE WHEN count(*) = %(hops)s THEN (array_agg(tenant_id ORDER BY step DESC))[1] END FROM hop)"
_HOPS: Final = 64
_MOST_HOPS: Final = 512
_BEGINNING: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane of so many, counted from 0."""

    number: int
    of: int

    @property
    def parameters(self) -> dict[str, int]:
        """The named parameters of a statement that `sql` returned."""
        return {"lane": self.number, "lanes": self.of}

    def sql(self, statement: str) -> str:
        """Return the statement narrowed to this lane at each `HERE`; the same text for all lanes, so it is prepared once.

        :raises ValueError: the statement says nowhere where the condition goes; a programming error.
        """
        return _sql(statement, narrowed=self.of > 1)

    def filter(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Narrow a query to the tenants of this lane."""
        if self.of == 1:
            return rows
        lane = Func(F("tenant_id"), self.of, function="hp_lane", output_field=IntegerField())
        return rows.filter(Exact(lane, self.number))


class Turns:
    """The lanes that a process serves; each round begins one lane further, so none stands behind the others for ever."""

    def __init__(self, served: Sequence[Lane]) -> None:
        self._served = tuple(served)
        self._rounds = itertools.count()

    def round(self) -> tuple[Lane, ...]:
        """Return each lane once."""
        first = next(self._rounds) % len(self._served)
        return (*self._served[first:], *self._served[:first])


class Walk:
    """Where the walk over the tenants of a queue goes on in each lane; of this process."""

    def __init__(self) -> None:
        self._after: dict[Lane, UUID] = {}

    def parameters(self, lane: Lane) -> dict[str, Any]:
        """Return the named parameters of a statement with `tenants_of`, those of the lane too."""
        after = self._after.get(lane, _BEGINNING)
        return {"after": after, "hops": min(_HOPS * lane.of, _MOST_HOPS), **lane.parameters}

    def went(self, lane: Lane, after: UUID | None) -> None:
        """Note how far a statement came: what its `AFTER` is."""
        self._after[lane] = after or _BEGINNING


def tenants_of(table: str, *, condition: str = "true") -> str:
    """Return the part `hop (tenant_id, step)` of a WITH RECURSIVE: the tenants that have rows in a queue."""
    return _HOP.format(table=table, condition=condition)


def lanes() -> tuple[Lane, ...]:
    """Return all lanes, in their order.

    :raises ImproperlyConfigured: the number of lanes is out of bounds.
    """
    return _lanes(settings.LANES)


def in_turn(queue: str) -> tuple[Lane, ...]:
    """Return all lanes, beginning one further each time that this process asks for the same queue."""
    return _turns(settings.LANES, queue).round()


def chosen(numbers: Sequence[int]) -> tuple[Lane, ...]:
    """Return the lanes of these numbers, each once; all lanes where no number is given.

    :raises ValueError: there is no lane of such a number.
    """
    found = lanes()
    if unknown := sorted({number for number in numbers if not 0 <= number < len(found)}):
        raise ValueError(f"there is no lane {unknown[0]}: LANES is {len(found)}, lanes are counted from 0")
    return tuple(found[number] for number in sorted(set(numbers))) or found


def build(connection: BaseDatabaseWrapper) -> None:
    """Make the function of the lanes; run as the owner, after migrations."""
    with connection.cursor() as cursor:
        cursor.execute(_FUNCTION)


def check_settings(**_: Any) -> list[checks.CheckMessage]:
    """Tell `manage.py check` what is wrong with the number of lanes."""
    try:
        lanes()
    except ImproperlyConfigured as error:
        return [checks.Error(str(error), id="core.E001")]
    return []


@cache
def _sql(statement: str, *, narrowed: bool) -> str:
    if HERE not in statement:
        raise ValueError("the statement does not say where the lane's condition goes")
    return statement.replace(HERE, _CONDITION if narrowed else "")


@cache
def _lanes(count: int) -> tuple[Lane, ...]:
    if not 1 <= count <= MOST:
        raise ImproperlyConfigured(f"LANES must lie between 1 and {MOST}; it is {count}.")
    return tuple(Lane(number, count) for number in range(count))


@cache  # one entry for each queue
def _turns(count: int, queue: str) -> Turns:
    return Turns(_lanes(count))
