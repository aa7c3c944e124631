"""Reading versions of resources by their names: the current ones, or one of the past."""

import re
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from core.arrays import array_literal, numbers
from core.errors import NotFound
from core.pipeline import Call, Statement
from fhir_api.resources.types import NUMBERS
from fhir_api.statements import NAMED

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}")
_COLUMNS: Final = "version, extract(epoch FROM date_trunc('second', last_updated))::bigint, body"
_OF_ONE: Final = "tenant_id = $1 AND type = $2 AND fhir_id = $3"

_CURRENT = Statement.of(f"SELECT {_COLUMNS} FROM fhir_api_resource WHERE {_OF_ONE}")
_NAMED = Statement.of(NAMED)
_LAST = Statement.of(
    "SELECT coalesce(r.body, (SELECT v.body FROM fhir_api_resourceversion v WHERE v.tenant_id = $1"
    " AND v.type = r.type AND v.fhir_id = r.fhir_id AND v.version = r.version - 1))"
    f" FROM fhir_api_resource r WHERE {_OF_ONE}"
)
_NUMBERED = Statement.of(
    f"SELECT {_COLUMNS} FROM fhir_api_resource WHERE {_OF_ONE} AND version = $4"
    f" UNION ALL SELECT {_COLUMNS} FROM fhir_api_resourceversion WHERE {_OF_ONE} AND version = $4"
)


class NoSuchResource(NotFound):
    """There is no resource of this type with this id."""

    code = "resource_not_found"
    title = "There is no such resource."


def number_of(text: str) -> int:
    """The number that a version's id tells; 0, which no version has, if it is no version's: an id is a text, `01` is not `1`."""
    return int(text) if _NUMBER.fullmatch(text) else 0


def current_call(tenant_id: UUID, type_name: str, fhir_id: str) -> Call:
    """The statement that reads the current version: its number, the seconds of its time, its body."""
    return Call(_CURRENT, [str(tenant_id), str(NUMBERS[type_name]), fhir_id])


def named_call(tenant_id: UUID, names: Sequence[tuple[str, str]]) -> Call:
    """The statement that reads the current versions of several, deleted ones too; `version_of` reads each row."""
    kinds, ids = numbers(NUMBERS[kind] for kind, _ in names), array_literal(fhir_id for _, fhir_id in names)
    return Call(_NAMED, [str(tenant_id), kinds, ids])


def last_body_call(tenant_id: UUID, type_name: str, fhir_id: str) -> Call:
    """The statement that reads the body as it is, or as it was before the resource was deleted."""
    return Call(_LAST, [str(tenant_id), str(NUMBERS[type_name]), fhir_id])


def numbered_call(tenant_id: UUID, type_name: str, fhir_id: str, version: int) -> Call:
    """The same for any version."""
    return Call(_NUMBERED, [str(tenant_id), str(NUMBERS[type_name]), fhir_id, str(version)])
