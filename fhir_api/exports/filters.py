"""`_typeFilter`: searches that say which resources of a type are exported.

Source: Bulk Data Access IG 2.0.0, export.html, "_typeFilter Experimental Query Parameter".
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from fhir_api.search.filters import Filter, read_filter
from fhir_api.smart import SEARCH, UNNARROWED, Access

from .models import ExportJob
from .refusals import InvalidExport

MOST: Final = 100
_NEXT: Final = re.compile(r",(?=[A-Za-z]+\?)")  # a query's own commas stand before no type
_FORM: Final = re.compile(r"([A-Za-z]+)\?(.+)", re.DOTALL)


def read_filters(values: Iterable[str], types: Sequence[str]) -> tuple[str, ...]:
    """The queries as `Type?query`, each once.

    :raises InvalidExport: one is of another form, of a type that is not exported, or there are too many.
    """
    found = [part for value in values for one in _NEXT.split(value) if (part := one.strip(", "))]
    for one in found:
        match = _FORM.fullmatch(one)
        if match is None:
            raise InvalidExport("_typeFilter takes searches as Type?parameter=value.", issue_type="value")
        if match[1] not in types:
            text = f"_typeFilter is of types that are exported; '{match[1][:40]}' is none of them."
            raise InvalidExport(text, issue_type="not-supported")
    if len(found) > MOST:
        raise InvalidExport(f"_typeFilter has at most {MOST} searches.", issue_type="too-long")
    return tuple(dict.fromkeys(found))


def types_of(filters: Iterable[str]) -> tuple[str, ...]:
    """The types that filters are of, each once."""
    return tuple(dict.fromkeys(one.partition("?")[0] for one in filters))


def check_filters(tenant_id: UUID, filters: Sequence[str], *, access: Access, at: datetime) -> None:
    """Read the filters as the worker will.

    :raises core.errors.Malformed: as `read_filter`.
    """
    for name in types_of(filters):
        _of_type(tenant_id, name, filters, access=access, at=at)


def filter_of(job: ExportJob, type_name: str) -> Filter:
    """What an export asks of the resources of a type; its filters see no more than who asked for it might search.

    :raises core.errors.Malformed: the filter cannot be read any more, as its value set was deleted.
    """
    access = UNNARROWED
    if job.searchable is not None:
        access = Access(dict.fromkeys(job.searchable, frozenset(SEARCH)))
    return _of_type(job.tenant_id, type_name, job.filters, access=access, at=job.transaction_time)


def _of_type(tenant_id: UUID, type_name: str, filters: Sequence[str], *, access: Access, at: datetime) -> Filter:
    split = [one.partition("?") for one in filters]
    queries = [query for name, _, query in split if name == type_name]
    return read_filter(tenant_id, type_name, queries, access=access, at=at)
