"""The OpenAPI document as tests read it: references followed, lines counted, operations listed."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from api import docs
from api.management.commands.openapi import written

Node = dict[str, Any]


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
    return str(problem["allOf"][1]["properties"]["code"]["const"])


def standalone(schema: Node) -> Node:
    """A schema that a validator can use by itself: the document's components come along."""
    return {**schema, "components": document()["components"]}


def lines(whole: Node) -> int:
    """How many lines the committed file would have."""
    return written(whole).count("\n")


def without(described: Described) -> Node:
    """The document without one operation and without the components that only it uses."""
    whole = copy.deepcopy(document())
    item = whole["paths"][described.path]
    del item[described.method]
    if not item:
        del whole["paths"][described.path]
    return pruned(whole)


def pruned(whole: Node) -> Node:
    """The document without components that nothing refers to."""
    used: set[str] = set()
    waiting = [part for name, part in whole.items() if name != "components"]
    while waiting:
        for reference in _references(waiting.pop()):
            if reference not in used:
                used.add(reference)
                _, _, kind, name = reference.split("/")
                waiting.append(whole["components"][kind][name])
    for kind, parts in whole["components"].items():
        if kind != "securitySchemes":
            whole["components"][kind] = {
                name: part for name, part in parts.items() if f"#/components/{kind}/{name}" in used
            }
    return whole


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
