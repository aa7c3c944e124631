"""`_include` and `_revinclude`: what the matches refer to and what refers to them, step by step. Source: R4 search.html#include."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core.pipeline import Call, Rows, Statement
from fhir_api.definitions.parameters import BY_TYPE, Parameter
from fhir_api.indexing import index
from fhir_api.keys import reference_key, target_key
from fhir_api.reading import read_stored
from fhir_api.references import target
from fhir_api.resources.types import NUMBERS
from fhir_api.smart import READ, Access
from fhir_api.store import Name

from .access import within
from .compile import Compiler, Place
from .conditions import Condition
from .control import EVERYTHING, Control, Inclusion
from .found import COLUMNS, Found, read

DEEPEST: Final = 5
MOST: Final = 1_000
_BRANCHES: Final = 50
_NEWEST: Final = "ORDER BY p.sort_date DESC, p.resource_id DESC"
Run = Callable[[Sequence[Call]], list[Rows]]


@dataclass(slots=True)
class Included:
    """What was fetched for a page; `cut` tells that there would have been more, `deep` that steps would have followed."""

    resources: list[Found]
    cut: bool = False
    deep: bool = False


def follow(tenant_id: UUID, access: Access, control: Control, matches: Sequence[Found], run: Run) -> Included:
    """Fetch what a page includes; a further step for each `:iterate` that finds something new, five at most."""
    included = Included([])
    known = {match.name for match in matches}
    fresh: Sequence[Found] = matches
    for step in range(DEEPEST + 1):
        iterated = step > 0
        names = _targets(fresh, [one for one in control.includes if one.iterate or not iterated], access)
        keys = _referring(fresh, [one for one in control.revincludes if one.iterate or not iterated], access)
        room = MOST - len(included.resources)
        calls = [
            *_forward(tenant_id, access, names - known),
            *_backward(tenant_id, access, keys, room + 1 + len(known)),
        ]
        if not calls:
            break
        found = {one.name: one for rows in run(calls) for one in read(rows) if one.name not in known}
        if step == DEEPEST:
            included.deep = bool(found)
            break
        fresh = list(found.values())[:room]
        included.resources.extend(fresh)
        included.cut = included.cut or len(found) > room
        known.update(found)
        if not fresh or included.cut:
            break
    return included


def _targets(fresh: Iterable[Found], inclusions: Sequence[Inclusion], access: Access) -> set[Name]:
    """The resources that the fresh ones refer to through the parameters to follow.

    The index of a resource decides which of its references a parameter means, so no path is known here.
    """
    names: set[Name] = set()
    for one in fresh:
        wanted = [inclusion for inclusion in inclusions if inclusion.source in (one.type, EVERYTHING)]
        if not wanted:
            continue
        resource = read_stored(one.body)
        postings = index(resource).postings
        for name in set(references_in(resource)):
            key = target_key(*name)
            if access.allows(name[0], READ) and any(
                _means(inclusion, one.type, name, key, postings) for inclusion in wanted
            ):
                names.add(name)
    return names


def _means(inclusion: Inclusion, type_name: str, name: Name, key: int, postings: set[int]) -> bool:
    if inclusion.target not in ("", name[0]):
        return False
    return any(reference_key(one.number, key) in postings for one in _parameters(inclusion, type_name))


def _parameters(inclusion: Inclusion, type_name: str) -> Iterator[Parameter]:
    if inclusion.parameter is not None:
        yield inclusion.parameter
        return
    for one in BY_TYPE[type_name].values():
        if one.kind == "reference":
            yield one


def references_in(value: Any) -> Iterator[Name]:
    """The resources of this server that a resource refers to anywhere."""
    if isinstance(value, dict):
        text = value.get("reference")
        found = target(text) if isinstance(text, str) else None
        if found and found[0] in NUMBERS:
            yield found
        for inner in value.values():
            if isinstance(inner, dict | list):
                yield from references_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references_in(inner)


def _referring(fresh: Iterable[Found], inclusions: Sequence[Inclusion], access: Access) -> dict[str, list[int]]:
    """By type, the keys under which references to the fresh ones stand."""
    keys: dict[str, list[int]] = {}
    targets = [(one.type, target_key(*one.name)) for one in fresh]
    for inclusion in inclusions:
        for source in NUMBERS if inclusion.source == EVERYTHING else (inclusion.source,):
            if not access.allows(source, READ):
                continue
            for one in _parameters(inclusion, source):
                numbers = [key for kind, key in targets if inclusion.target in ("", kind) and _may_point(one, kind)]
                keys.setdefault(source, []).extend(reference_key(one.number, key) for key in numbers)
    return {source: found for source, found in keys.items() if found}


def _may_point(parameter: Parameter, type_name: str) -> bool:
    return not parameter.targets or type_name in parameter.targets


def _forward(tenant_id: UUID, access: Access, names: set[Name]) -> Iterator[Call]:
    """The statements that fetch resources by name, one for each type, as each has its own compartment."""
    for type_name in dict.fromkeys(name for name, _ in sorted(names)):
        compiler = Compiler(tenant_id)
        ids = compiler.bind([fhir_id for name, fhir_id in sorted(names) if name == type_name], "text[]")
        where = ["r.tenant_id = $1", f"r.type = {NUMBERS[type_name]}", f"r.fhir_id = ANY({ids})", "NOT r.deleted"]
        where += compiler.all_hold(within(access, type_name), Place("r.id", "r.sort_date", "r"))
        sql = (
            f"SELECT {COLUMNS} FROM fhir_api_resource r WHERE {' AND '.join(where)} ORDER BY r.fhir_id LIMIT {MOST + 1}"
        )
        yield Call(Statement.composed(sql), compiler.parameters)


def _backward(tenant_id: UUID, access: Access, keys: dict[str, list[int]], limit: int) -> Iterator[Call]:
    """The statements that fetch what refers to the fresh ones, newest first."""
    for type_name, numbers in keys.items():
        yield referring(tenant_id, within(access, type_name), numbers, limit)


def referring(tenant_id: UUID, held: Sequence[Condition], keys: Sequence[int], limit: int) -> Call:
    """Return the statement that fetches the newest resources under some keys, which all conditions hold of."""
    compiler = Compiler(tenant_id)
    postings = _referring_postings(compiler, held, list(dict.fromkeys(keys)), limit)
    found = f"SELECT DISTINCT p.sort_date, p.resource_id FROM {postings} {_NEWEST}"
    sql = (
        f"SELECT {COLUMNS} FROM ({found} LIMIT {limit}) AS p JOIN fhir_api_resource r"
        f" ON r.id = p.resource_id AND r.tenant_id = $1 {_NEWEST}"
    )
    return Call(Statement.composed(sql), compiler.parameters)


def _referring_postings(compiler: Compiler, held: Sequence[Condition], keys: Sequence[int], limit: int) -> str:
    """The newest postings under some keys as `p`. Of a page's few keys each is a branch with a limit of its own, which the
    index gives in order: PostgreSQL merges them and stops, where it would read and sort all that stand under a list.
    """
    if len(keys) > _BRANCHES:
        listed = compiler.bind(keys, "bigint[]")
        return f"fhir_api_posting p WHERE {_posted(compiler, held, f'= ANY({listed})')}"
    branches = (_posted(compiler, held, f"= {compiler.bind(key, 'bigint')}") for key in keys)
    selects = " UNION ALL ".join(
        f"(SELECT p.sort_date, p.resource_id FROM fhir_api_posting p WHERE {one} {_NEWEST} LIMIT {limit})"
        for one in branches
    )
    return f"({selects}) AS p"


def _posted(compiler: Compiler, held: Sequence[Condition], match: str) -> str:
    conditions = compiler.all_hold(held, Place("p.resource_id", "p.sort_date"))
    return " AND ".join(["p.tenant_id = $1", f"p.key {match}", *conditions])
