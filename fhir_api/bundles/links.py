"""Links from the resources of a Bundle to one another and, by criteria, to what is stored; found once, replaced in place.

Replaced are `Reference.reference`, elements of the types uri, url, oid and uuid, and `href` and `src` of narratives; canonicals
are names, not links. Source: R4 http.html#trules, #condref.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, Final

from fhir_api.elements import members
from fhir_api.resources import Json

from .refusals import UnresolvedReference

_LINKS: Final = frozenset(("uri", "url", "oid", "uuid"))
_NARROW: Final = frozenset(("oid", "uuid"))  # no relative link has their form
_PLACEHOLDER: Final = ("urn:uuid:", "urn:oid:")
_CONDITIONAL: Final = re.compile(r"[A-Z][A-Za-z]{1,63}\?.+", re.DOTALL)
_BASE: Final = re.compile(r"(.+/)[A-Z][A-Za-z]{1,63}/[A-Za-z0-9\-.]{1,64}")
_ATTRIBUTE: Final = re.compile(r"""(\b(?:href|src)\s*=\s*)(["'])([^"'<>]+)\2""")

_Path = tuple[Any, str] | None


@dataclass(frozen=True, slots=True)
class Conditional:
    """A reference that names its target by criteria; `holder["reference"]` is to be replaced."""

    holder: Json
    criteria: str
    place: str

    @property
    def type(self) -> str:
        """The type of resources that the criteria concern."""
        return self.criteria.partition("?")[0]


@dataclass(slots=True)
class Links:
    """What the references of a Bundle lead to: `targets` by the entries' full URLs; those to `refused` are an error."""

    targets: Mapping[str, str]
    refused: frozenset[str] = frozenset()
    conditional: list[Conditional] = field(default_factory=list)

    def resolve(self, document: Any, *, place: str, full_url: str = "", strict: bool = True) -> None:
        """Replace the links in a resource or patch to other entries, and remember its conditional references.

        `strict`: a placeholder that is no entry is refused.

        :raises UnresolvedReference: a reference names no entry.
        """
        found = _Walk(self.targets)
        found.into(document, None, _type_of(document))
        for holder, path in found.references:
            self._reference(holder, _place(place, path), full_url, strict=strict)
        for change in found.changes:
            change()

    def _reference(self, holder: Json, place: str, full_url: str, *, strict: bool) -> None:
        text: str = holder["reference"]
        target = self.targets.get(text) or self.targets.get(_absolute(text, full_url))
        if target:
            holder["reference"] = target
        elif text in self.refused:
            told = "The entries of a batch do not refer to one another."
            raise UnresolvedReference(told, expression=f"{place}.reference", issue_type="not-found")
        elif text.startswith(_PLACEHOLDER):
            if strict:
                raise UnresolvedReference(expression=f"{place}.reference", issue_type="not-found")
        elif "?" in text and _CONDITIONAL.fullmatch(text):
            self.conditional.append(Conditional(holder, text, f"{place}.reference"))


def _absolute(text: str, full_url: str) -> str:
    """A relative reference, seen from an entry whose full URL is that of a RESTful server. Source: R4 bundle.html#references."""
    if not full_url or full_url.startswith("urn:") or ":" in text:
        return ""
    match = _BASE.fullmatch(full_url)
    return match[1] + text if match else ""


class _Walk:
    """One walk through a document, which tells what is to be replaced; nothing is replaced while it lasts."""

    def __init__(self, targets: Mapping[str, str]) -> None:
        self.targets = targets
        self.references: list[tuple[Json, _Path]] = []
        self.changes: list[Callable[[], None]] = []

    def into(self, node: Any, path: _Path, kind: str) -> None:
        if type(node) is dict:
            self._object(node, path, kind)
        elif type(node) is list:
            for member in node:
                self.into(member, path, kind)

    def _object(self, node: Json, path: _Path, kind: str) -> None:
        targets = self.targets
        for name, value in node.items():
            if type(value) is str:
                if name == "reference":
                    self.references.append((node, path))
                elif value in targets:
                    self._link(node, name, value, _type_at(kind, _names((path, name))))
                elif name == "div" and targets:
                    self._narrative(node, value)
            elif type(value) is dict:
                self._object(value, (path, name), kind)
            elif type(value) is list:
                self._list(value, (path, name), kind)

    def _list(self, values: list[Any], path: tuple[Any, str], kind: str) -> None:
        for number, value in enumerate(values):
            if type(value) is dict:
                if path[1] == "contained":
                    self._object(value, None, _type_of(value))
                else:
                    self._object(value, path, kind)
            elif type(value) is str and value in self.targets and _type_at(kind, _names(path)) in _LINKS:
                self.changes.append(partial(_set, values, number, self.targets[value]))
            elif type(value) is list:  # in patches alone
                self._list(value, path, kind)

    def _link(self, node: Json, name: str, value: str, kind: str) -> None:
        if kind in _NARROW and name.startswith("value"):
            self.changes.append(partial(_rename, node, name, "valueUri", self.targets[value]))
        elif kind in _LINKS:
            self.changes.append(partial(_set, node, name, self.targets[value]))

    def _narrative(self, node: Json, text: str) -> None:
        if "href" not in text and "src" not in text:
            return
        replaced = _ATTRIBUTE.sub(self._attribute, text)
        if replaced != text:
            self.changes.append(partial(_set, node, "div", replaced))

    def _attribute(self, match: re.Match[str]) -> str:
        return f"{match[1]}{match[2]}{self.targets.get(match[3], match[3])}{match[2]}"


def _set(holder: Any, member: Any, value: str) -> None:
    holder[member] = value


def _rename(holder: Json, name: str, new: str, value: str) -> None:
    """Replace a member by another one in its place."""
    members_before = list(holder.items())
    holder.clear()
    holder.update((new, value) if key == name else (key, member) for key, member in members_before)


def _type_of(document: Any) -> str:
    return str(document.get("resourceType", "")) if isinstance(document, dict) else ""


def _names(path: _Path) -> tuple[str, ...]:
    return tuple(reversed(list(_upwards(path))))


def _upwards(path: _Path) -> Iterator[str]:
    while path is not None:
        path, name = path
        yield name


def _place(place: str, path: _Path) -> str:
    return ".".join((place, "resource", *_names(path)))


@lru_cache(maxsize=4096)
def _type_at(kind: str, names: tuple[str, ...]) -> str:
    """The type of an element; "" where it is not known."""
    for name in names:
        if name.startswith("_"):
            kind = "Element"
            continue
        known = members(kind)
        found = known.elements.get(name) if known else None
        if found is None:
            return ""
        kind = found.type
    return kind
