"""Resources in part: `_summary` and `_elements`. Source: R4 search.html#summary, #elements."""

from collections.abc import Collection
from typing import Any, Final

from fhir_api.definitions.facts import MANDATORY, SUMMARY
from fhir_api.elements import members
from fhir_api.reading import read_stored
from fhir_api.resources import Json, written

from .control import Control

TAG: Final = {"system": "http://terminology.hl7.org/CodeSystem/v3-ObservationValue", "code": "SUBSETTED"}
_ALWAYS: Final = ("resourceType", "id", "meta", "implicitRules")


def subset(body: bytes, control: Control) -> bytes:
    """The bytes of what is wanted of a resource, tagged SUBSETTED."""
    resource = read_stored(body)
    kept = _kept(resource, control)
    meta = kept.get("meta") or {}
    tags = [tag for tag in meta.get("tag", ()) if tag.get("code") != TAG["code"]]
    return written({**kept, "meta": {**meta, "tag": [*tags, TAG]}})


def _kept(resource: Json, control: Control) -> Json:
    type_name = resource["resourceType"]
    if control.summary == "data":
        return {name: value for name, value in resource.items() if name not in ("text", "_text")}
    wanted = {*_ALWAYS, *MANDATORY[type_name]}
    if control.summary == "text":
        wanted.add("text")
    elif control.summary == "true":
        wanted.update(SUMMARY[type_name])
    if control.elements:
        wanted.update(_elements(type_name, control.elements))
    return {name: value for name, value in resource.items() if _base(type_name, name) in wanted}


def _elements(type_name: str, elements: Collection[str]) -> set[str]:
    """The wanted elements of one type; `Patient.name` counts for patients only, and a part stands for its whole."""
    found = set()
    for element in elements:
        head, _, rest = element.partition(".")
        own = rest if head == type_name else "" if head[:1].isupper() else element
        found.add(own.partition(".")[0])
    return found


def _base(type_name: str, name: str) -> str:
    """The name of a member as elements are named: without the underscore of its extensions and the type of a choice."""
    name = name.removeprefix("_")
    known: Any = members(type_name)
    element = known.elements.get(name) if known else None
    return element.choice or name if element else name
