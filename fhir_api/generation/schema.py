"""A strict JSON schema of the registered types, made of the official StructureDefinitions and the value sets of required bindings.

Beside the keywords of JSON Schema it holds what a validator needs to explain itself: `title` names the primitive type or the rule that a
subschema stands for, `choices` the types that each choice of a definition may have. Every regular expression is one that a linear
engine runs.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from fhir_api.resources.types import NUMBERS

from . import primitives
from .constraints import coded, constraint, exists, named

Json = dict[str, Any]
SIMPLE_QUANTITY: Final = "http://hl7.org/fhir/StructureDefinition/SimpleQuantity"
_SYSTEM_TYPES: Final = "http://hl7.org/fhirpath/"
_NO_SIBLING: Final = frozenset({"xhtml"})  # a primitive type whose `_name` FHIR's JSON does not know
_FEW: Final = 400
_MIME_TYPES: Final = "/ValueSet/mimetypes"  # required, and defined by a grammar (BCP 13)
_ID: Final = "[A-Za-z0-9.\\-]{1,64}"
# Literal: Type/id, maybe of a version; contained; absolute. The form with a question is for transactions alone.
_REFERENCE: Final = f"^([A-Z][A-Za-z]{{1,63}}/{_ID}(/_history/{_ID})?|[A-Z][A-Za-z]{{1,63}}[?]\\S+|#({_ID})?|[a-z][a-zA-Z0-9+.\\-]*:\\S+)$"


def write_schema(structure_definitions: Sequence[Json], valuesets: Sequence[Json]) -> bytes:
    """Make the schema: one definition for each type and each backbone element that the registered types reach. Source: R4 json.html."""
    structures = {one["name"]: one for one in structure_definitions}
    schema = _Schema(structures, {one["url"]: codes_of(one) for one in valuesets})
    schema.add_all()
    found = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "Generated from HL7 FHIR R4 4.0.1 (hl7.fhir.r4.core, CC0-1.0) by generate_fhir_definitions. Do not edit.",
        "choices": dict(sorted(schema.choices.items())),
        "$defs": dict(sorted(schema.definitions.items())),
    }
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


class _Schema:
    """The definitions made so far; a type is added when another first names it."""

    def __init__(self, structures: dict[str, Json], codes: dict[str, list[tuple[str, str]]]) -> None:
        self.structures = structures
        self.codes = codes
        self.definitions: dict[str, Json] = {}
        self.choices: dict[str, dict[str, list[str]]] = {}
        self.waiting: list[str] = list(NUMBERS)

    def add_all(self) -> None:
        """Add the registered types and whatever they reach."""
        self.definitions["contained"] = _contained(
            self.codes["http://hl7.org/fhir/ValueSet/all-types"], self.structures
        )
        while self.waiting:
            name = self.waiting.pop()
            if name not in self.definitions:
                self._add(name)

    def _add(self, name: str) -> None:
        structure = self.structures.get(name)
        if structure is None or structure["kind"] == "primitive-type":
            self.definitions[name] = primitives.schema(name)
            return
        elements = structure["snapshot"]["element"]
        parents = {one["path"].rpartition(".")[0] for one in elements}
        for path in sorted(parents - {""}):
            self.definitions[path] = self._object(
                path, structure, [one for one in elements if _parent(one) == path], parents
            )

    def _object(self, path: str, structure: Json, elements: Sequence[Json], parents: set[str]) -> Json:
        properties: Json = {}
        required: list[str] = []
        rules: list[Json] = []
        if structure["kind"] == "resource" and path == structure["name"]:
            properties["resourceType"] = {"const": path}
            required.append("resourceType")
        for element in elements:
            if element["max"] == "0":
                continue
            names = list(self._properties(element, parents, properties))
            if element["min"] and len(names) == 1 and "_" + names[0] not in properties:
                required.append(names[0])
            elif element["min"]:
                rules.append(named("required:" + _leaf(element).removesuffix("[x]"), exists(*names, among=properties)))
        if "resourceType" not in properties:
            rules.append(named("ele-1", {"not": {"required": ["id"], "maxProperties": 1}}))
        rules += self._constraints(path, elements, properties)
        found: Json = {"type": "object", "properties": properties, "additionalProperties": False, "minProperties": 1}
        return {**found, **({"required": required} if required else {}), **({"allOf": rules} if rules else {})}

    def _constraints(self, path: str, elements: Sequence[Json], properties: Json) -> Iterator[Json]:
        """The invariants of an element and the required bindings of its concepts, where a schema can say them."""
        yield from constraint(path, properties)
        for element in elements:
            binding = element.get("binding") or {}
            if binding.get("strength") == "required" and [one["code"] for one in element["type"]] == [
                "CodeableConcept"
            ]:
                leaf = _leaf(element)
                rule = coded(self.codes[binding["valueSet"].partition("|")[0]])
                properties[leaf] = {**properties[leaf], "allOf": [named("binding:" + path + "." + leaf, rule)]}

    def _properties(self, element: Json, parents: set[str], properties: Json) -> Iterator[str]:
        """Put the properties of one element, one for each type of a choice, and tell their names."""
        leaf = _leaf(element)
        stem = leaf.removesuffix("[x]")
        for one in element.get("type") or [{"code": ""}]:
            kind = _type_name(one["code"], element)
            name = stem + kind[:1].upper() + kind[1:] if leaf != stem else leaf
            if leaf != stem:
                self.choices.setdefault(_parent(element), {}).setdefault(stem, []).append(kind)
            self._put(name, element, one, parents, properties)
            yield name

    def _put(self, name: str, element: Json, of_type: Json, parents: set[str], properties: Json) -> None:
        kind = _type_name(of_type["code"], element)
        many = element["max"] != "1"
        primitive = kind in self.structures and self.structures[kind]["kind"] == "primitive-type"
        sibling = (
            primitive and kind not in _NO_SIBLING and not of_type["code"].startswith(_SYSTEM_TYPES) and name != "id"
        )
        value = self._value(kind, element, of_type, parents)
        if many and primitive:
            value = self._nullable(value)
        properties[name] = _array(value) if many else value
        if sibling:
            self.waiting.append("Element")
            properties["_" + name] = _array(_ref("Element-or-null")) if many else _ref("Element-of-primitive")
            self.definitions["Element-or-null"] = {**_ELEMENT, "type": ["object", "null"]}
            self.definitions["Element-of-primitive"] = _ELEMENT
            self.waiting.append("Extension")

    def _nullable(self, value: Json) -> Json:
        """The same value, or null: in an array a null keeps the place of what only `_name` describes."""
        if "enum" in value:
            return {**value, "enum": [*value["enum"], None]}
        kind = value["$ref"].rpartition("/")[2]
        plain = primitives.schema(kind)
        self.definitions[kind + "-or-null"] = {**plain, "type": [plain["type"], "null"]}
        return _ref(kind + "-or-null")

    def _value(self, kind: str, element: Json, of_type: Json, parents: set[str]) -> Json:
        """The schema of one value of an element."""
        if "contentReference" in element or element["path"] in parents:
            return _ref(str(element.get("contentReference", element["path"])).removeprefix("#"))
        if kind == "Resource":
            return _ref("contained")
        if kind == "code" and (codes := self._bound(element)):
            return {"title": "code", "enum": codes}
        if kind == "code" and _MIME_TYPES in (element.get("binding") or {}).get("valueSet", ""):
            kind = "mime-type"
        self.waiting.append(kind)
        if element["path"] == "Reference.reference":
            return {
                **_ref(kind),
                "allOf": [{"title": "reference", "pattern": one} for one in (_REFERENCE, primitives.URI)],
            }
        if kind == "Reference":
            return {**_ref(kind), **_targets(of_type.get("targetProfile", ()))}
        if SIMPLE_QUANTITY in of_type.get("profile", ()):
            return {**_ref(kind), "allOf": [named("sqty-1", {"not": exists("comparator", among=("_comparator",))})]}
        return _ref(kind)

    def _bound(self, element: Json) -> list[str]:
        """The codes that an element may have, where a value set is required and its codes are few enough to be listed."""
        binding = element.get("binding") or {}
        codes = self.codes.get(binding.get("valueSet", "").partition("|")[0], [])
        return (
            sorted({code for _, code in codes}) if binding.get("strength") == "required" and len(codes) < _FEW else []
        )


_ELEMENT: Final[Json] = {
    "type": "object",
    "properties": {
        "id": {"$ref": "#/$defs/element-id"},
        "extension": {"type": "array", "items": {"$ref": "#/$defs/Extension"}, "minItems": 1},
    },
    "additionalProperties": False,
    "minProperties": 1,
}


def _contained(all_types: Iterable[tuple[str, str]], structures: dict[str, Json]) -> Json:
    """A contained resource from the outside: those of the registered types are validated with their own definition beside this one."""
    kinds = sorted(
        code
        for system, code in all_types
        if system.endswith("/resource-types") and not _is_abstract(structures.get(code))
    )
    never = {
        name: {"title": rule, "not": {}}
        for name, rule in (("versionId", "dom-4"), ("lastUpdated", "dom-4"), ("security", "dom-5"))
    }
    return {
        "type": "object",
        "properties": {
            "resourceType": {"title": "resource type", "enum": kinds},
            "id": {"$ref": "#/$defs/id"},
            "meta": {"type": "object", "properties": never},
            "contained": {"title": "dom-2", "not": {}},
        },
        "required": ["resourceType"],
    }


def _targets(profiles: Iterable[str]) -> Json:
    """The rule that a relative reference names one of the allowed types. Source: R4 references.html#literal."""
    types = sorted(profile.rpartition("/")[2] for profile in profiles)
    if not types or "Resource" in types:
        return {}
    one = "|".join(types)
    pattern = f"^(?:(?:{one})/[^/]*(?:/_history/[^/]*)?|(?:{one})[?].*|#.*|[a-z][a-zA-Z0-9+.\\-]*:.*)$"
    return {"properties": {"reference": {"title": "targets:" + ",".join(types), "pattern": pattern}}}


def codes_of(valueset: Json) -> list[tuple[str, str]]:
    """The system and code of every concept of an expansion that may be chosen."""
    found: list[tuple[str, str]] = []
    waiting = list(valueset.get("expansion", {}).get("contains", ()))
    while waiting:
        one = waiting.pop()
        if "code" in one and not one.get("abstract"):
            found.append((one["system"], one["code"]))
        waiting += one.get("contains", ())
    return found


def _array(items: Json) -> Json:
    return {"type": "array", "items": items, "minItems": 1}


def _is_abstract(structure: Json | None) -> bool:
    return bool(structure and structure.get("abstract"))


def _leaf(element: Json) -> str:
    return str(element["path"]).rpartition(".")[2]


def _parent(element: Json) -> str:
    return str(element["path"]).rpartition(".")[0]


def _ref(name: str) -> Json:
    return {"$ref": "#/$defs/" + name}


def _type_name(code: str, element: Json) -> str:
    """The type of an element; of the few that R4 gives a type of FHIRPath, the one that is meant."""
    if not code.startswith(_SYSTEM_TYPES):
        return code
    if _leaf(element) == "id":
        return "id" if _parent(element) in NUMBERS else "element-id"
    return "uri" if _leaf(element) == "url" else "string"
