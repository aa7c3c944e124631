"""The OpenAPI document as tests read it: references followed, lines counted, operations listed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from api import docs
from api.management.commands.openapi import written

Node = dict[str, Any]
_HERE = "urn:document"
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


@cache
def document() -> Node:
    """The document, built once."""
    return docs.document()


@dataclass(frozen=True)
class Described:
    """One operation of the document."""

    method: str
    path: str
    content: Node

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"


def operations(whole: Node | None = None) -> Iterator[Described]:
    """Every operation of the paths."""
    for path, item in (whole or document())["paths"].items():
        for method, content in item.items():
            yield Described(method, path, content)


def resolve(node: Node) -> Node:
    """What a node refers to; the node itself where it is no reference."""
    while "$ref" in node:
        found: Node = document()
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node


def codes(response: Node) -> set[str]:
    """The codes that a problem response's schema allows."""
    media = resolve(response)["content"]["application/problem+json"]
    alternatives = media["schema"].get("oneOf", [media["schema"]])
    return {_code(resolve(one)) for one in alternatives}


def _code(problem: Node) -> str:
    return str(problem["allOf"][1]["properties"]["code"]["enum"][0])


def hold_to_document(method: str, response: Any) -> None:
    """Fail if an operation refused with a code or a member that the document does not name; 500 is nobody's promise."""
    if response.headers.get("Content-Type") != "application/problem+json" or response.status_code == 500:
        return
    match = getattr(response, "resolver_match", None)
    path = path_of(match.route) if match else ""
    described = document()["paths"].get(path, {}).get(method.lower())
    if described is not None:
        problem = response.json()
        expected = described["responses"].get(str(response.status_code))
        known = _members(expected) if expected else {}
        assert problem["code"] in known, f"{method} {path} does not name {response.status_code} {problem['code']}"
        unnamed = set(problem) - known[problem["code"]]
        assert not unnamed, f"{problem['code']} does not declare {unnamed}"


def path_of(route: str) -> str:
    """The path of the document under which a route of Django stands."""
    return "/" + _PARAMETER.sub(_written, route)


def _written(match: re.Match[str]) -> str:
    return "{id}" if match[1] == "pk" else f"{{{match[1]}}}"


def _members(response: Node) -> dict[str, set[str]]:
    """The members of the problem, by code."""
    shared = set(document()["components"]["schemas"]["Problem"]["properties"])
    schema = resolve(response)["content"]["application/problem+json"]["schema"]
    found = [resolve(one) for one in schema.get("oneOf", [schema])]
    return {_code(one): shared | set(one["allOf"][1]["properties"]) for one in found}


@cache
def _registry() -> Registry:
    return Registry().with_resource(_HERE, DRAFT202012.create_resource(document())).crawl()


def renew() -> None:
    """Build the document anew, for a test that comes after others have registered kinds of events."""
    document.cache_clear()
    _registry.cache_clear()


def validator(schema: Node) -> Draft202012Validator:
    """What judges values by a schema that may refer to the document's components."""
    return Draft202012Validator(_absolute(schema), registry=_registry())


def _absolute(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: _HERE + part if name == "$ref" else _absolute(part) for name, part in node.items()}
    return [_absolute(part) for part in node] if isinstance(node, list) else node


def lines(whole: Node) -> int:
    """How many lines the committed file would have."""
    return written(whole).count("\n")


def only_of(described: Described) -> Node:
    """One operation and the components that only it uses, where they stand in the document."""
    whole = document()
    paths = {path: dict(item) for path, item in whole["paths"].items()}
    own = {described.path: {described.method: paths[described.path].pop(described.method)}}
    left = used_components(whole | {"paths": paths})
    components = {
        kind: {name: part for name, part in parts.items() if name not in left[kind]}
        for kind, parts in used_components(whole).items()
    }
    return {"paths": own, "components": {kind: parts for kind, parts in components.items() if parts}}


def used_components(whole: Node) -> dict[str, Node]:
    """The components to which something refers, by kind; all security schemes, which are named otherwise."""
    used: set[str] = set()
    waiting = [part for name, part in whole.items() if name != "components"]
    while waiting:
        for reference in _references(waiting.pop()):
            if reference not in used:
                used.add(reference)
                _, _, kind, name = reference.split("/")
                waiting.append(whole["components"][kind][name])
    return {
        kind: {
            name: part
            for name, part in parts.items()
            if kind == "securitySchemes" or f"#/components/{kind}/{name}" in used
        }
        for kind, parts in whole["components"].items()
    }


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for name, part in node.items():
            if name == "$ref" and isinstance(part, str):
                yield part
            else:
                yield from _references(part)
    elif isinstance(node, list):
        for part in node:
            yield from _references(part)
