"""References between resources of one tenant: what is referred to exists, what is referred to stays.

The rows that are referred to are held (FOR KEY SHARE) until the end, so that nobody deletes them meanwhile; who deletes
holds the row alone and then looks for references, so that of the two the second sees the first.
Source: contract, fhir.md point 25; the tenant's policy `fhir_reference_integrity`.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.conf import settings

from core import arrays
from core.errors import FieldError
from core.pipeline import Call, Rows, Statement

from . import compartments
from .definitions.parameters import PARAMETERS
from .intentions import ReferenceNotFound, StillReferenced
from .keys import reference_key, target_key
from .resources import Json
from .resources.types import NAMES, NUMBERS
from .statements import named
from .store import Name
from .store.reads import number_of

_RELATIVE = re.compile(r"([A-Z][A-Za-z]+)/([A-Za-z0-9\-.]{1,64})(?:/_history/([A-Za-z0-9\-.]{1,64}))?")

Target = tuple[str, str, int]  # type, id and version; 0 where the reference names none
Referrer = Callable[[], Mapping[Target, str]]  # the expressions at which one resource refers to others
_MOST = 100
_NEVER = 2**31  # no resource has so many versions

_Path = tuple[Any, str] | None  # the path of the element above, and the last part

_HELD: Final = "FOR KEY SHARE"
_IN_COMPARTMENT: Final = (
    " AND (NOT jsonb_exists($4::jsonb, o.type::text)"
    " OR jsonb_path_exists(o.body::jsonb, ($4::jsonb ->> o.type::text)::jsonpath))"
)
_PRESENT = Statement.of(f"SELECT r.type, r.fhir_id, r.version FROM {named(where='AND NOT o.deleted', lock=_HELD)}")
_PRESENT_TO_PATIENT = Statement.of(
    f"SELECT r.type, r.fhir_id, r.version FROM {named(where=f'AND NOT o.deleted{_IN_COMPARTMENT}', lock=_HELD)}"
)
_REFERRERS = Statement.of("""
SELECT r.type, r.fhir_id FROM fhir_api_posting p JOIN fhir_api_resource r ON r.id = p.resource_id
WHERE p.tenant_id = $1 AND p.key = ANY($2::bigint[]) AND r.tenant_id = $1 LIMIT 1
""")


def referred(body: bytes) -> list[Target]:
    """The resources of this server that a stored body refers to, in any element that is called `reference`.

    The bytes are those of `resources.written`: an unescaped quote, `reference` and a colon can be nothing but that name.
    """
    found = _pattern(settings.FHIR_BASE_URL).findall(body)
    parts = ((kind.decode(), fhir_id.decode(), version.decode()) for kind, fhir_id, version in dict.fromkeys(found))
    return [(kind, fhir_id, _version(text)) for kind, fhir_id, text in parts if kind in NUMBERS]


def _version(text: str) -> int:
    if not text:
        return 0
    return number_of(text) or _NEVER


@lru_cache(maxsize=8)
def _pattern(base: str) -> re.Pattern[bytes]:
    start = rf'"reference":"(?:{re.escape(base)}/)?'
    return re.compile((start + _RELATIVE.pattern + '"').encode())


def references(resource: Json) -> dict[Target, str]:
    """The resources of this server that a resource refers to, each with the expression of one reference to it."""
    texts: list[tuple[str, _Path]] = []
    _collect(resource, None, texts)
    return {target: _place(resource["resourceType"], path) for text, path in texts if (target := _target(text))}


def _target(text: str) -> Target | None:
    """The resource of this server that the text of a reference names, relative or absolute; of the registered types only."""
    relative = text.removeprefix(f"{settings.FHIR_BASE_URL}/")
    match = _RELATIVE.fullmatch(relative)
    return (match[1], match[2], _version(match[3] or "")) if match and match[1] in NUMBERS else None


def _collect(value: Any, path: _Path, texts: list[tuple[str, _Path]]) -> None:
    """Every `reference` that is a text, with its path; those inside of contained resources too."""
    if type(value) is dict:
        for name, member in value.items():
            if type(member) is str:
                if name == "reference":
                    texts.append((member, path))
            elif type(member) in (dict, list):
                _collect(member, (path, f".{name}"), texts)
    else:
        for number, member in enumerate(value):
            if type(member) in (dict, list):
                _collect(member, (path, f"[{number}]"), texts)


def _place(root: str, path: _Path) -> str:
    parts = [".reference"]
    while path is not None:
        path, part = path
        parts.append(part)
    return root + "".join(reversed(parts))


def present_call(tenant_id: UUID, targets: Iterable[Target], *, patient: str = "") -> Call:
    """The statement that finds and holds those of the resources that exist; `check_present` reads its answer.

    With `patient`, what he may not see does not exist.
    """
    wanted = sorted({target[:2] for target in targets})
    kinds, ids = (
        arrays.numbers(NUMBERS[kind] for kind, _ in wanted),
        arrays.array_literal(fhir_id for _, fhir_id in wanted),
    )
    if patient:
        return Call(_PRESENT_TO_PATIENT, [str(tenant_id), kinds, ids, compartments.paths(patient)])
    return Call(_PRESENT, [str(tenant_id), kinds, ids])


def check_present(rows: Rows, wanted: Mapping[Target, Sequence[Referrer]]) -> None:
    """Hold the references against what exists; each of those that refer to a target tells at which expression.

    Versions are numbered without gaps, so that those up to the current one exist.

    :raises ReferenceNotFound: some lead nowhere; of another tenant or deleted is the same. The first hundred are told.
    """
    there = {_name(rows, number): int(rows.value(number, 2) or 0) for number in range(len(rows))}
    missing = (
        FieldError(referrer()[target], ReferenceNotFound.code, _absent(target, there))
        for target, referrers in wanted.items()
        if there.get(target[:2], -1) < target[2]
        for referrer in referrers
    )
    if told := list(islice(missing, _MOST)):
        raise ReferenceNotFound(told[0].message, errors=told, issue_type="not-found")


def _absent(target: Target, there: Container[Name]) -> str:
    kind, fhir_id, _ = target
    return f"There is no {kind}/{fhir_id}{' of this version' if (kind, fhir_id) in there else ''}."


def referrers_call(tenant_id: UUID, deleted: Iterable[Name]) -> Call:
    """The statement that finds a reference to one of the deleted; `check_unreferenced` reads its answer."""
    return Call(_REFERRERS, [str(tenant_id), arrays.numbers(key for name in deleted for key in reference_keys(*name))])


def check_unreferenced(rows: Rows, place: str, *, named: bool = True) -> None:
    """Hold a deletion against the references that are left; `named` False keeps back who refers.

    :raises StillReferenced: there is one.
    """
    if len(rows):
        kind, fhir_id = _name(rows, 0)
        raise StillReferenced(f"{kind}/{fhir_id} refers to it." if named else "", expression=place)


def reference_keys(type_name: str, fhir_id: str) -> list[int]:
    """The keys under which every reference to a resource stands."""
    target = target_key(type_name, fhir_id)
    return [reference_key(number, target) for number in _referring(type_name)]


@lru_cache(maxsize=32)
def _referring(type_name: str) -> tuple[int, ...]:
    """The numbers of the search parameters that may refer to a type."""
    return tuple(
        one.number
        for one in PARAMETERS.values()
        if one.kind == "reference" and (not one.targets or type_name in one.targets)
    )


def _name(rows: Rows, number: int) -> Name:
    kind, fhir_id, *_ = rows.row(number)
    return NAMES[int(kind or 0)], (fhir_id or b"").decode()
