"""The extraction of each type: the expressions of its search parameters, gathered into a tree of elements."""

from collections.abc import Iterable, Mapping, Sequence

from fhir_api.definitions.parameters import COLUMNS, parts_of

from .expressions import Extended, Field, Holds, Resolves, Step, UnknownExpression, Where, alternatives, steps
from .parameters import Row, sides
from .structures import Element, Structures
from .trees import Node

_CODED = {"CodeableConcept": "codeable_concept", "Coding": "coding", "Identifier": "identifier"}
_TOKENS = _CODED | {
    "ContactPoint": "contact_point",
    "code": "code",
    "string": "code",
    "boolean": "boolean",
    "Extension": "extension_token",
}
_STRINGS = {"string": "string", "HumanName": "human_name", "Address": "address", "Extension": "extension_string"}
_DATES = {"date": "moment", "dateTime": "moment", "instant": "moment", "Period": "period", "Timing": "timing"}
_DATES |= {"Extension": "extension_date"}
_QUANTITIES = dict.fromkeys(("Quantity", "Age", "Count", "Distance", "Duration"), "quantity")
_QUANTITIES |= {"Range": "quantity_range", "SampledData": "sampled_data"}

_EXTENSIONS = "http://hl7.org/fhir/StructureDefinition/"

# Which function takes a data type, by the kind of the parameter. Source: R4 search.html, the section of each kind.
_FUNCTIONS = {
    "token": {name: f"tokens.{function}" for name, function in _TOKENS.items()},
    "string": {name: f"texts.{function}" for name, function in _STRINGS.items()},
    "uri": dict.fromkeys(("uri", "url", "canonical"), "texts.uri"),
    "reference": {
        "Reference": "texts.reference",
        "Extension": "texts.extension_reference",
        "canonical": "texts.canonical",
    },
    "date": {name: f"measures.{function}" for name, function in _DATES.items()},
    "quantity": {name: f"measures.{function}" for name, function in _QUANTITIES.items()},
    "special": {"BackboneElement": "measures.position"},
}
_PAIRS = {
    ("token", "CodeableConcept"): "measures.token_token",
    ("quantity", "Quantity"): "measures.token_quantity",
    ("string", "string"): "measures.token_string",
    ("date", "dateTime"): "measures.token_moment",
    ("date", "Period"): "measures.token_period",
    ("token", "boolean"): "measures.token_boolean",
    ("reference", "Reference"): "measures.token_reference",
}

# An extension's real URL, where the official expression names one that does not exist. Source: R4 extension-registry.html.
REAL_URLS = {
    f"{_EXTENSIONS}patient-extensions-Patient-mothersMaidenName": f"{_EXTENSIONS}patient-mothersMaidenName",
}


class NoFunction(LookupError):
    """A kind of parameter on a data type that extraction does not know."""


def tree(type_name: str, rows: Iterable[Row], structures: Structures) -> Node:
    """The elements of a type that its parameters look at, each with the calls that turn its value into entries."""
    root = Node(Element(member="", type=type_name, many=False, inside=type_name))
    for row in rows:
        if row["type"] == type_name and not (row["code"] in COLUMNS or parts_of(row["code"]) or row.get("retired")):
            for path in sides(row, row["expression"]):
                add = _add_composite if row["kind"] == "composite" else _add
                add(root, path, row, structures)
    return root.prune()


def _add(root: Node, path: Sequence[Step], row: Row, structures: Structures) -> None:
    extra = ""
    for step in path:
        if isinstance(step, Holds):
            field = path[0]
            members = [] if not isinstance(field, Field) else structures.children(root.element.inside, field.name)
            names = ", ".join(f'"{element.member}"' for element in members)
            root.call(f"tokens.holds(entries, {row['number']}, {{value}}, ({names}))", row["code"])
            return
        if isinstance(step, Resolves):
            extra = f', "{step.type}"'
    nodes = _walk([root], path, structures)
    functions = {one: _FUNCTIONS[row["kind"]].get(one.element.type) for one in nodes}
    for node in _known(row, functions):
        function = functions[node]
        if function == "tokens.code" and (system := structures.system(node.element.binding)):
            extra = f', "{system}"'
        node.call(f"{function}(entries, {row['number']}, {{value}}{extra})", row["code"])


def _add_composite(root: Node, path: Sequence[Step], row: Row, structures: Structures) -> None:
    """A composite of a CodeableConcept or code that is always there, and a value beside it."""
    first, second = row["components"]
    for node in _walk([root], path, structures):
        (coded,) = structures.children(node.element.inside, first["expression"])
        if first["kind"] != "token" or coded.type not in ("CodeableConcept", "code") or coded.many:
            raise NoFunction(f"{row['type']} {row['code']}: {coded}")
        concept = f'{{value}}["{coded.member}"]'
        if coded.type == "code":
            concept = f'tokens.concept({concept}, "{structures.system(coded.binding)}")'
        for side in alternatives(second["expression"]):
            values = _walk([Node(node.element)], steps(side, rooted=False), structures)
            functions = {one: _PAIRS.get((second["kind"], one.element.type)) for one in values}
            for value in _known(row, functions):
                # Of an element that repeats, `system|` cannot be asked of the two sides apart.
                systems = "" if node is root else ", systems=True"
                call = f"{functions[value]}(entries, {row['number']}, {concept}, {{part}}{systems})"
                node.pair(value.element, call, row["code"])


def _walk(places: list[Node], path: Sequence[Step], structures: Structures) -> list[Node]:
    """The nodes a path leads to, made on the way where they are not there yet."""
    for step in path:
        if isinstance(step, Field):
            places = [
                place.child(element)
                for place in places
                for element in structures.children(place.element.inside, step.name, step.cast)
            ]
        elif isinstance(step, Where):
            values = [step.value, *([REAL_URLS[step.value]] if step.value in REAL_URLS else [])]
            places = [place.where(step.name, value) for place in places for value in values]
        elif isinstance(step, Extended):
            places = [place.extended(step.url) for place in places]
        elif not isinstance(step, Resolves):
            raise UnknownExpression(repr(path))
    return places


def _known(row: Row, functions: Mapping[Node, str | None]) -> list[Node]:
    """The elements that have a function; of a choice, the types that a kind of parameter cannot have are left out.

    :raises NoFunction: none is left.
    """
    found = [node for node, function in functions.items() if function]
    if not found or not all(node.element.is_choice for node in functions.keys() - set(found)):
        raise NoFunction(f"{row['type']} {row['code']} ({row['kind']}): {[node.element for node in functions]}")
    return found
