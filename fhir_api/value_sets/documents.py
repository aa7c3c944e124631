"""A ValueSet resource as the codes that it holds. Source: R4 valueset.html#expansion, #compositions."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from core.errors import Malformed
from fhir_api import terminology
from fhir_api.resources import Json
from fhir_api.terminology import Code

from .models import LONGEST_TITLE, LONGEST_URL, LONGEST_VERSION, MOST_CODES


class UnusableValueSet(Malformed):
    """A document is no ValueSet, or not one whose codes can be told from it alone."""

    code = "unusable_value_set"
    title = "The value set cannot be used."


@dataclass(frozen=True, slots=True)
class Document:
    """A value set as it is kept."""

    url: str
    version: str
    title: str
    codes: dict[str, list[str]]

    @property
    def count(self) -> int:
        """How many codes there are."""
        return sum(map(len, self.codes.values()))


def read(resource: Any) -> Document:
    """Read a ValueSet: its expansion if it has one, else the codes that its definition lists one by one.

    :raises UnusableValueSet: it is none, has no address, is one of R4's own, names codes by rules or by other value sets,
        or has no code, or more than 5,000.
    """
    if not isinstance(resource, dict) or resource.get("resourceType") != "ValueSet":
        raise UnusableValueSet("It is no ValueSet.")
    url = _text(resource, "url")
    if not _is_absolute(url):
        raise UnusableValueSet("ValueSet.url is not an absolute address.", expression="ValueSet.url")
    if terminology.members(url) is not None:
        raise UnusableValueSet(f"{url} is a value set of R4 itself, which stays as it is.", expression="ValueSet.url")
    codes: dict[str, dict[str, None]] = {}
    for system, code in _expanded(resource) if "expansion" in resource else _composed(resource):
        codes.setdefault(system, {})[code] = None
    title = str(resource.get("title") or resource.get("name") or "")[:LONGEST_TITLE]
    found = Document(url, _text(resource, "version"), title, {system: list(some) for system, some in codes.items()})
    if not 1 <= found.count <= MOST_CODES:
        raise UnusableValueSet(f"{url} has {found.count:,} codes; 1 to {MOST_CODES:,} can be kept.")
    return found


def _is_absolute(url: str) -> bool:
    """Tell whether it is an absolute address without a version."""
    try:
        return bool(urlsplit(url).scheme) and "|" not in url
    except ValueError:  # a bracket that is never closed
        return False


def _text(resource: Json, name: str) -> str:
    value, most = resource.get(name, ""), LONGEST_VERSION if name == "version" else LONGEST_URL
    if not isinstance(value, str) or len(value) > most or "\0" in value:
        raise UnusableValueSet(
            f"ValueSet.{name} is a text of at most {most} characters.", expression=f"ValueSet.{name}"
        )
    return value


def _expanded(resource: Json) -> Iterator[Code]:
    """The codes of an expansion that may be chosen.

    :raises UnusableValueSet: the expansion is a page of a longer one.
    """
    expansion = resource["expansion"]
    waiting = deque(_objects(expansion, "contains"))
    listed = 0
    while waiting:
        one = waiting.popleft()
        listed += 1
        if "code" in one and not one.get("abstract"):
            yield _code(one.get("system"), one)
        waiting += _objects(one, "contains")
    if isinstance(total := expansion.get("total"), int) and total > listed:
        raise UnusableValueSet(f"The expansion holds {listed} of {total} codes.", expression="ValueSet.expansion.total")


def _composed(resource: Json) -> list[Code]:
    """The codes that a definition lists, without those that it excludes.

    :raises UnusableValueSet: it names some otherwise.
    """
    compose = resource.get("compose", {})
    left_out = set(_listed(_objects(compose, "exclude"), "exclude"))
    return [code for code in _listed(_objects(compose, "include"), "include") if code not in left_out]


def _listed(parts: Iterable[Json], name: str) -> Iterator[Code]:
    for part in parts:
        concepts = list(_objects(part, "concept"))
        if not concepts or "filter" in part or "valueSet" in part:
            text = "The definition does not list its codes one by one: have a terminology server expand it first."
            raise UnusableValueSet(text, expression=f"ValueSet.compose.{name}")
        yield from (_code(part.get("system"), one) for one in concepts)


def _code(system: object, one: Json) -> Code:
    code = one.get("code")
    if not isinstance(system, str) or not isinstance(code, str) or not system or not code:
        raise UnusableValueSet("A concept has no system or no code.", expression="ValueSet")
    return system, code


def _objects(holder: Any, name: str) -> Iterator[Json]:
    """The objects of a list.

    :raises UnusableValueSet: it is something else.
    """
    listed = holder.get(name, []) if isinstance(holder, dict) else None
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise UnusableValueSet(f"'{name}' is no list of objects.", expression="ValueSet")
    yield from listed
