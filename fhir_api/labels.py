"""Which profiles, security labels and tags stand on resources: what `$meta` answers of a type or of all.

Source: R4 resource-operation-meta.html.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final
from uuid import UUID

import orjson

from core.pipeline import Call, Rows, Statement

from .definitions.parameters import PARAMETERS
from .patching import SETS
from .resources import Json
from .resources.types import NUMBERS
from .search.access import within
from .search.compile import Compiler, Place
from .smart import Access

_SETS: Final = {"profile": "_profile", "security": "_security", "tag": "_tag"}
_EACH: Final = " UNION ALL ".join(
    f"SELECT '{name}', label FROM jsonb_array_elements(labelled.meta -> '{name}') AS label" for name in _SETS
)


def used_calls(tenant_id: UUID, types: Iterable[str] | None, access: Access) -> list[Call]:
    """The statement that reads each label of the types (None: all) once; only resources that have one are looked at."""
    compiler = Compiler(tenant_id)
    selects = [_of_type(compiler, name, access) for name in (NUMBERS if types is None else types)]
    if not selects:
        return []
    sql = (
        f"SELECT DISTINCT used.kind, used.label::text FROM ({' UNION ALL '.join(selects)}) AS labelled (meta)"
        f" CROSS JOIN LATERAL ({_EACH}) AS used (kind, label) ORDER BY 1, 2"
    )
    return [Call(Statement.composed(sql), compiler.parameters)]


def read_used(answered: Sequence[Rows]) -> Json:
    """The labels as a Meta, each once, whatever displays it has."""
    meta: dict[str, dict[Hashable, object]] = {}
    for rows in answered:
        for number in range(len(rows)):
            kind, label = (rows.row(number)[0] or b"").decode(), orjson.loads(rows.value(number, 1) or b"null")
            meta.setdefault(kind, {}).setdefault(SETS[kind](label), label)
    return {kind: list(labels.values()) for kind, labels in meta.items()}


def _of_type(compiler: Compiler, type_name: str, access: Access) -> str:
    numbers = [PARAMETERS[type_name, code].number for code in _SETS.values()]
    has = " OR ".join(f"strpos(r.parameters, {compiler.bind(f' {one} ', 'text')}) > 0" for one in numbers)
    seen = compiler.all_hold(within(access, type_name), Place("r.id", "r.sort_date", "r"))
    own = ["r.tenant_id = $1", f"r.type = {NUMBERS[type_name]}", "NOT r.deleted", f"({has})", *seen]
    return f"SELECT r.body::jsonb -> 'meta' FROM fhir_api_resource r WHERE {' AND '.join(own)}"
