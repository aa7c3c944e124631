"""Searches as filters: whether resources that are at hand meet one of several queries of their type."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from fhir_api.smart import Access

from .access import within
from .compile import Compiler, Place
from .conditions import Condition
from .control import is_control
from .matching import stated
from .parse import read_pairs
from .refusals import InvalidSearch


@dataclass(frozen=True, slots=True)
class Filter:
    """Resources of a type that meet all conditions of any of the alternatives; without alternatives, all of the type."""

    type: str
    alternatives: tuple[tuple[Condition, ...], ...] = ()

    def sql(self, compiler: Compiler, place: Place) -> str:
        """The filter of a candidate."""
        each = [" AND ".join(compiler.all_hold(one, place)) for one in self.alternatives]
        return " OR ".join(f"({one})" for one in each) or "TRUE"


def read_filter(tenant_id: UUID, type_name: str, queries: Sequence[str], *, access: Access, at: datetime) -> Filter:
    """Read the queries of one type as a filter, in the bound tenant.

    :raises InvalidSearch: a value, a query that states nothing, or a parameter that says how results are given.
    :raises UnknownSearchParameter: a parameter that the type does not have.
    :raises UnsupportedSearch, UnknownValueSet: a modifier, a value set.
    """
    return Filter(type_name, tuple(_conditions(tenant_id, type_name, one, access=access, at=at) for one in queries))


def _conditions(tenant_id: UUID, type_name: str, query: str, *, access: Access, at: datetime) -> tuple[Condition, ...]:
    pairs = read_pairs(query)
    if said := next((name for name, _ in pairs if is_control(name)), ""):
        text = f"The parameter '{said[:40]}' says how results are given; a filter says only which resources are meant."
        raise InvalidSearch(text, issue_type="not-supported")
    found = stated(tenant_id, type_name, pairs, access=access, at=at)
    if not found:
        raise InvalidSearch(f"The filter of {type_name} states nothing.", issue_type="value")
    return (*found, *within(access, type_name))
