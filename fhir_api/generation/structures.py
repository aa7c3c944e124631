"""The elements of resources and data types, looked up in their StructureDefinitions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

_NESTED = ("BackboneElement", "Element")
_TARGET = "http://hl7.org/fhir/StructureDefinition/"


class UnknownElement(LookupError):
    """A path that the definitions do not have."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element in one of its types. `member` is its name in JSON, `inside` the path its own elements are found under.

    `targets` are the types a Reference may point to; empty means any. `binding` is the value set of a code.
    """

    member: str
    type: str
    many: bool
    inside: str
    targets: tuple[str, ...] = ()
    binding: str = ""
    is_choice: bool = False


class Structures:
    """All elements by their path."""

    def __init__(self, definitions: Iterable[dict[str, Any]], valuesets: Iterable[dict[str, Any]]) -> None:
        self._elements = {
            element["path"]: element for definition in definitions for element in definition["snapshot"]["element"]
        }
        self._systems = {valueset["url"]: _systems(valueset) for valueset in valuesets}

    def children(self, inside: str, name: str, cast: str = "") -> list[Element]:
        """The element of this name, once for each type it may have; only those of `cast` if that is given.

        :raises UnknownElement: there is none.
        """
        path = f"{inside}.{name}"
        choice = path not in self._elements
        definition = self._elements.get(f"{path}[x]" if choice else path)
        if definition is None:
            raise UnknownElement(path)
        found = [
            self._element(definition, name, kind, choice=choice)
            for kind in definition["type"]
            if cast.lower() in ("", kind["code"].lower())
        ]
        if not found:
            raise UnknownElement(f"{path} as {cast}")
        return found

    def system(self, binding: str) -> str:
        """The one system of all codes of a value set; empty if there are several or the value set is not known."""
        systems = self._systems.get(binding.partition("|")[0], set())
        return next(iter(systems)) if len(systems) == 1 else ""

    def _element(self, definition: dict[str, Any], name: str, kind: dict[str, Any], *, choice: bool) -> Element:
        code = kind["code"].removeprefix("http://hl7.org/fhirpath/System.")
        return Element(
            member=name + code[0].upper() + code[1:] if choice else name,
            type=code,
            many=definition["max"] not in ("0", "1"),
            inside=definition["path"] if code in _NESTED else code,
            targets=_targets(kind.get("targetProfile", ())),
            binding=definition.get("binding", {}).get("valueSet", ""),
            is_choice=choice,
        )


def _targets(profiles: Sequence[str]) -> tuple[str, ...]:
    names = tuple(profile.removeprefix(_TARGET) for profile in profiles)
    return () if "Resource" in names else names


def _systems(valueset: dict[str, Any]) -> set[str]:
    def walk(codes: Iterable[dict[str, Any]]) -> Iterable[str]:
        for code in codes:
            yield code.get("system", "")
            yield from walk(code.get("contains", ()))

    return set(walk(valueset.get("expansion", {}).get("contains", ())))
