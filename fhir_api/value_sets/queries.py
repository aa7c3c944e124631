"""The value sets that a search names and R4 does not bring: read from the tenant's own, in one trip, before it is planned."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

import orjson

from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement
from fhir_api import terminology
from fhir_api.terminology import Code

Members = Mapping[str, tuple[Code, ...]]  # by the address as the search writes it
Run = Callable[[Sequence[Call]], list[Rows]]

NONE: Final[Members] = {}
_BY_ADDRESS: Final = Statement.of(
    "SELECT url, set_version, codes FROM fhir_api_valueset"
    " WHERE tenant_id = $1 AND url = ANY($2::text[]) ORDER BY updated_at DESC, id DESC"
)


def members(tenant_id: UUID, addresses: Iterable[str], run: Run) -> Members:
    """The codes of those addresses that the tenant brought; without a version the set that came last is meant."""
    wanted = [one for one in addresses if terminology.members(one) is None]
    if not wanted:
        return NONE
    urls = sorted({one.partition("|")[0] for one in wanted})
    (rows,) = run([Call(_BY_ADDRESS, [str(tenant_id), array_literal(urls)])])
    found = {one: _chosen(one, rows) for one in wanted}
    return {one: codes for one, codes in found.items() if codes}


def _chosen(address: str, rows: Rows) -> tuple[Code, ...] | None:
    url, bar, version = address.partition("|")
    for number in range(len(rows)):
        own_url, own_version, codes = rows.row(number)
        if own_url == url.encode() and (not bar or own_version == version.encode()):
            return tuple((system, code) for system, some in orjson.loads(codes or b"{}").items() for code in some)
    return None
