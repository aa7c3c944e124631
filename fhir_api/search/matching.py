"""Which resources a conditional interaction means. Source: R4 http.html#ccreate, #cond-update."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

from core.clock import now
from core.errors import Malformed
from core.pipeline import Call, Rows, Statement, run
from fhir_api.smart import SEARCH, UNNARROWED, Access
from fhir_api.store import Name
from fhir_api.value_sets.queries import members

from .access import within
from .compile import Compiler
from .conditions import Condition, Sought, flat
from .parse import Pair, criterion, read_pairs, value_sets
from .refusals import InvalidSearch
from .translate import condition
from .values import Context

ENOUGH = 2  # none, one, or several


def matches(
    tenant_id: UUID,
    type_name: str,
    criteria: str,
    *,
    limit: int = ENOUGH,
    access: Access = UNNARROWED,
    at: datetime | None = None,
) -> list[Name]:
    """The names of at most `limit` resources that meet the criteria of a conditional interaction, in the bound tenant.

    :raises UnknownSearchParameter: a parameter the type does not have, `_sort` and its like among them.
    :raises InvalidSearch: a value, or criteria that state nothing, which would match everything.
    :raises UnsupportedSearch: a modifier.
    """
    call = matching_call(tenant_id, type_name, criteria, limit=limit, access=access, at=at)
    (rows,) = run([call])
    return names_of(type_name, rows)


def matches_each(
    tenant_id: UUID,
    criteria: Mapping[tuple[str, str], int],
    *,
    access: Access,
    places: Mapping[tuple[str, str], str],
    before: Call | None = None,
) -> dict[tuple[str, str], dict[Name, int]]:
    """What each of several criteria (a type and a query) matches, at most so many as it says, asked in one trip.

    `before` goes ahead of them. Each name comes with the version that met the criteria; `places` tell refusals where these
    were sent.

    :raises core.errors.PlatformError: as `matches`.
    """
    calls = []
    for one, limit in criteria.items():
        try:
            calls.append(matching_call(tenant_id, *one, limit=limit, access=access))
        except Malformed as refusal:
            refusal.extra.setdefault("expression", places[one])
            raise
    rows = run([before, *calls])[1:] if before else run(calls)
    return {
        one: {name: int(found.value(n, 1) or 0) for n, name in enumerate(names_of(one[0], found))}
        for one, found in zip(criteria, rows, strict=True)
    }


def names_of(type_name: str, rows: Rows) -> list[Name]:
    """The answer to a `matching_call`."""
    return [(type_name, (rows.value(n) or b"").decode()) for n in range(len(rows))]


def matching_call(
    tenant_id: UUID,
    type_name: str,
    criteria: str,
    *,
    limit: int = ENOUGH,
    access: Access = UNNARROWED,
    at: datetime | None = None,
) -> Call:
    """What `matches` asks, for a caller that has more to send in the same trip; each row is an id and a version."""
    conditions = stated(tenant_id, type_name, read_pairs(criteria.removeprefix("?")), access=access, at=at or now())
    if not conditions:
        raise InvalidSearch("The criteria of a conditional interaction state nothing.")
    compiler = Compiler(tenant_id)
    source, where = compiler.candidates(Sought(type_name, (*conditions, *within(access, type_name))))
    most = compiler.bind(limit, "bigint")
    inner = f"SELECT DISTINCT {source.place.id} AS id FROM {source.tables} WHERE {' AND '.join(where)} LIMIT {most}"
    sql = (
        f"{compiler.head()}SELECT r.fhir_id, r.version FROM ({inner}) AS found"
        " JOIN fhir_api_resource r ON r.id = found.id AND r.tenant_id = $1 ORDER BY r.id"
    )
    return Call(Statement.composed(sql), compiler.parameters)


def stated(
    tenant_id: UUID, type_name: str, pairs: Sequence[Pair], *, access: Access, at: datetime
) -> tuple[Condition, ...]:
    """The conditions that pairs state of a type, each of which has to hold; every parameter has to be known.

    :raises core.errors.Malformed: as `matches`, but for criteria that state nothing.
    """
    context = Context(at, access, members(tenant_id, value_sets(pairs), run))
    readable = partial(access.allows, interaction=SEARCH)
    found: list[Condition] = []
    for name, value in pairs:
        one = criterion(type_name, name, value, readable=readable)
        if one is None:  # a search leaves it out and says so; a deletion would take more than was meant
            raise InvalidSearch(f"The list of {name[:80]} names nothing.")
        found.extend(flat(condition(one, context, access)))
    return tuple(found)
