"""Ways to break an official example, each with the issue that it must cause, told by R4's own definitions alone."""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from fhir_api.reading import read_stored
from fhir_api.resources.types import NUMBERS
from tests.fhir_api import data

Json = dict[str, Any]
Path = tuple[str | int, ...]
_FEW_CODES = 400  # of larger value sets the schema holds the form alone
_LARGE = ("mimetypes",)
_WRONG: dict[str, Any] = {
    "boolean": "yes",
    **dict.fromkeys(("date", "dateTime", "instant"), "2023-02-30"),
    **dict.fromkeys(("decimal", "integer", "positiveInt", "unsignedInt"), "1"),
    **dict.fromkeys(("code", "markdown", "string"), 1),
    **dict.fromkeys(("canonical", "uri", "url"), "a b"),
    "base64Binary": "%",
    "id": "a_b",
    "time": "25:00:00",
}


class Place(NamedTuple):
    """One element of an example: where it is, how R4 calls it, its definition and type."""

    path: Path
    expression: str
    element: Json
    type: str

    @property
    def is_item(self) -> bool:
        """Whether it is one of several."""
        return isinstance(self.path[-1], int)

    @property
    def is_choice(self) -> bool:
        """Whether it may have several types."""
        return str(self.element["path"]).endswith("[x]")


@dataclass(frozen=True, slots=True)
class Case:
    """A broken resource, and the expression, code and rule of the issue that it must cause."""

    way: str
    resource: Json
    expression: str
    code: str
    rule: str = ""

    @property
    def name(self) -> str:
        """Of the case, in words."""
        return f"{self.way}: {self.resource['resourceType']}/{self.resource['id']} {self.expression}"


@cache
def definitions() -> dict[str, Json]:
    """Every element of the given definitions by its path."""
    files = ("r4-structure-definitions.json.gz", "r4-more-structure-definitions.json.gz")
    return {one["path"]: one for file in files for each in data.read(file) for one in each["snapshot"]["element"]}


@cache
def _parents() -> frozenset[str]:
    return frozenset(path.rpartition(".")[0] for path in definitions())


@cache
def codes() -> frozenset[str]:
    """The value sets that are small enough to be told code by code."""
    files = ("r4-required-valuesets.json.gz", "r4-more-required-valuesets.json.gz")
    sets = [one for file in files for one in data.read(file)]
    return frozenset(
        one["url"]
        for one in sets
        if not one["url"].endswith(_LARGE) and len(one.get("expansion", {}).get("contains", ())) <= _FEW_CODES
    )


def defined(inside: str, name: str) -> tuple[str, Json, str]:
    """The words of an element in FHIRPath, its definition and its type; empty where there is none of this name."""
    if found := definitions().get(f"{inside}.{name}"):
        return name, found, _type(found, found.get("type", [{}])[0].get("code", ""))
    for cut in range(1, len(name)):
        if found := definitions().get(f"{inside}.{name[:cut]}[x]"):
            kind = next(one["code"] for one in found["type"] if one["code"].lower() == name[cut:].lower())
            return f"{name[:cut]}.ofType({kind})", found, kind
    return "", {}, ""


def _type(element: Json, code: str) -> str:
    if reference := element.get("contentReference"):
        return str(reference).removeprefix("#")
    return str(element["path"]) if element["path"] in _parents() else code


def places(resource: Json) -> Iterator[Place]:
    """Every element of a resource that R4 defines, without those of contained resources and narratives."""
    kind = resource["resourceType"]
    yield from _places(resource, (), kind, kind)


def _places(holder: Json, path: Path, expression: str, inside: str) -> Iterator[Place]:
    for name, value in holder.items():
        words, element, kind = defined(inside, name)
        if not element or name in ("contained", "div"):
            continue
        many = isinstance(value, list)
        for number, one in enumerate(value if many else [value]):
            index = (number,) if many else ()
            told = f"{expression}.{words}" + (f"[{number}]" if many else "")
            if one is not None:
                yield Place((*path, name, *index), told, element, kind)
            if isinstance(one, dict):
                yield from _places(one, (*path, name, *index), told, kind)


def at(resource: Any, path: Path) -> Any:
    """What lies at a path."""
    for key in path:
        resource = resource[key]
    return resource


def changed(resource: Json, path: Path, value: Any) -> Json:
    """A copy with another value at a path."""
    found = copy.deepcopy(resource)
    at(found, path[:-1])[path[-1]] = copy.deepcopy(value)
    return found


def unknown_elements(resource: Json) -> Iterator[Case]:
    """An element that no type has, in the resource and in each of its elements."""
    kind = resource["resourceType"]
    yield Case("unknown element", {**resource, "foo": 1}, f"{kind}.foo", "structure")
    for place in places(resource):
        if isinstance(at(resource, place.path), dict):
            broken = changed(resource, (*place.path, "foo"), 1)
            yield Case("unknown element", broken, f"{place.expression}.foo", "structure")


def missing_elements(resource: Json) -> Iterator[Case]:
    """An element less that must be there."""
    for place in places(resource):
        if place.element["min"] and not place.is_item and f"_{place.path[-1]}" not in at(resource, place.path[:-1]):
            broken = copy.deepcopy(resource)
            holder = at(broken, place.path[:-1])
            del holder[place.path[-1]]
            if holder:
                told = place.expression.rpartition(".ofType(")[0] if place.is_choice else place.expression
                yield Case("missing element", broken, told, "required")


def wrong_codes(resource: Json) -> Iterator[Case]:
    """A code that is not of the value set that must be used."""
    concept = {"coding": [{"system": "http://example.org", "code": "no-such"}]}
    for place in places(resource):
        binding = place.element.get("binding", {})
        if binding.get("strength") != "required" or binding["valueSet"].partition("|")[0] not in codes():
            continue
        if place.type in ("code", "CodeableConcept"):
            broken = changed(resource, place.path, "no-such" if place.type == "code" else concept)
            yield Case("wrong code", broken, place.expression, "code-invalid")


def wrong_primitives(resource: Json) -> Iterator[Case]:
    """A value of another form than its type has."""
    for place in places(resource):
        is_bound = place.element.get("binding", {}).get("strength") == "required"
        if place.type in _WRONG and not is_bound:
            yield Case("wrong primitive", changed(resource, place.path, _WRONG[place.type]), place.expression, "value")


def wrong_targets(resource: Json) -> Iterator[Case]:
    """A reference to a type that the element does not allow."""
    for place in places(resource):
        profiles = [url for one in place.element.get("type", ()) for url in one.get("targetProfile", ())]
        if place.type == "Reference" and profiles and not any(url.endswith("/Resource") for url in profiles):
            broken = changed(resource, place.path, {"reference": "Basic/1"})
            yield Case("wrong target", broken, f"{place.expression}.reference", "value")


def contained_faults(resource: Json) -> Iterator[Case]:
    """What no contained resource may be or have."""
    kind = resource["resourceType"]
    for number, one in enumerate(resource.get("contained", ())):
        here = f"{kind}.contained[{number}]"
        meta = {"versionId": "1"}, {"lastUpdated": "2020-01-01T00:00:00Z"}, {"security": [{"code": "R"}]}
        for rule, wrong in zip(("dom-4", "dom-4", "dom-5"), meta, strict=True):
            broken = changed(resource, ("contained", number, "meta"), wrong)
            yield Case("contained", broken, f"{here}.meta.{next(iter(wrong))}", "invariant", rule)
        inner = [{"resourceType": "Organization", "name": "a"}]
        nested = changed(resource, ("contained", number, "contained"), inner)
        yield Case("contained", nested, f"{here}.contained", "invariant", "dom-2")
        alone = copy.deepcopy(resource)
        alone["contained"].append({"resourceType": "Medication", "id": "nobody", "code": {"text": "a"}})
        yield Case("contained", alone, f"{kind}.contained[{len(alone['contained']) - 1}]", "invariant", "dom-3")
        if one["resourceType"] in NUMBERS:  # of another type the form alone is judged
            yield Case("contained", changed(resource, ("contained", number, "foo"), 1), f"{here}.foo", "structure")
        if one["resourceType"] == "Medication" and "code" in one:
            text = changed(resource, ("contained", number, "code"), "aspirin")
            yield Case("contained", text, f"{here}.code", "structure")


def _with(resource: Json, members: Json, *without: str) -> Json:
    kept = {name: value for name, value in resource.items() if name not in without}
    return copy.deepcopy({**kept, **members})


def _concept(system: str, code: str) -> Json:
    return {"coding": [{"system": f"http://terminology.hl7.org/CodeSystem/{system}", "code": code}]}


_ACTIVE = _concept("allergyintolerance-clinical", "active")
_ERROR = _concept("allergyintolerance-verification", "entered-in-error")
_NAMED, _CODED = {"display": "a"}, {"text": "a"}
# By type: the rule, where it breaks, and what to change in an example so that it does.
_INVARIANTS: dict[str, Sequence[tuple[str, str, Callable[[Json], Json]]]] = {
    "AllergyIntolerance": [
        ("ait-1", "", lambda one: _with(one, {}, "clinicalStatus", "verificationStatus")),
        ("ait-2", "", lambda one: _with(one, {"clinicalStatus": _ACTIVE, "verificationStatus": _ERROR})),
    ],
    "CarePlan": [
        (
            "cpl-3",
            ".activity[0]",
            lambda one: _with(one, {"activity": [{"reference": _NAMED, "detail": {"status": "scheduled"}}]}),
        )
    ],
    "CareTeam": [
        (
            "ctm-1",
            ".participant[0].onBehalfOf",
            lambda one: _with(one, {"participant": [{"member": {"reference": "Patient/1"}, "onBehalfOf": _NAMED}]}),
        )
    ],
    "Goal": [("gol-1", ".target[0]", lambda one: _with(one, {"target": [{"detailString": "far"}]}))],
    "Group": [
        ("grp-1", "", lambda one: _with(one, {"actual": False, "member": [{"entity": {"reference": "Patient/1"}}]}))
    ],
    "Immunization": [
        ("imm-1", ".education[0]", lambda one: _with(one, {"education": [{"publicationDate": "2020"}]})),
    ],
    "MedicationAdministration": [("mad-1", ".dosage", lambda one: _with(one, {"dosage": {"text": "one"}}))],
    "QuestionnaireResponse": [
        (
            "qrs-1",
            ".item[0]",
            lambda one: _with(
                one, {"item": [{"linkId": "1", "answer": [{"valueString": "a"}], "item": [{"linkId": "2"}]}]}
            ),
        )
    ],
    "ServiceRequest": [("prr-1", "", lambda one: _with(one, {"orderDetail": [_CODED]}, "code"))],
}
RULES = {rule for rules in _INVARIANTS.values() for rule, _, _ in rules}


def broken_invariants(resource: Json) -> Iterator[Case]:
    """A rule that R4 states for the type."""
    kind = resource["resourceType"]
    for rule, where, change in _INVARIANTS.get(kind, ()):
        yield Case("broken invariant", change(resource), kind + where, "invariant", rule)


WAYS: dict[str, Callable[[Json], Iterator[Case]]] = {
    "unknown element": unknown_elements,
    "missing element": missing_elements,
    "wrong code": wrong_codes,
    "wrong primitive": wrong_primitives,
    "wrong target": wrong_targets,
    "contained": contained_faults,
    "broken invariant": broken_invariants,
}


def cases(way: str) -> Iterator[Case]:
    """Every official example of the further types, broken in one way."""
    for example in data.lines("r4-more-examples.ndjson.gz"):
        yield from WAYS[way](read_stored(example.encode()))
