"""The API document as `/docs` reads it: in the words of OpenAPI 3.0, which its page shows five times as fast as 3.1.

The document itself is 3.1. What 3.0 has no words for is put as near as it can be (`null` as `nullable`, `const` as a choice
of one); the messages of webhooks, which 3.0 does not know, are on the other page, `/docs/redoc`.
Source: https://spec.openapis.org/oas/v3.0.3#schema-object
"""

from collections.abc import Mapping
from typing import Any

_NOTE = (
    "\n\nThis page shows the document in the form of OpenAPI 3.0. The document itself is [/v1/openapi.json](/v1/openapi.json) "
    "(OpenAPI 3.1); [the other page](/docs/redoc) shows it whole, with the messages of webhooks."
)
# Objects whose keys are names that somebody chose, and values that are no schemas.
_NAMED = frozenset(
    {"properties", "patternProperties", "paths", "schemas", "responses", "parameters", "headers", "content"}
)
_LITERAL = frozenset({"example", "default", "enum", "const", "mapping", "required", "security"})
_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def readable(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document in the words of OpenAPI 3.0."""
    found: dict[str, Any] = _reduced({name: value for name, value in document.items() if name != "webhooks"})
    info = {**found["info"], "description": found["info"].get("description", "") + _NOTE}
    if "license" in info:
        info["license"] = {"name": info["license"]["name"]}
    found.pop("jsonSchemaDialect", None)
    return {**found, "openapi": "3.0.3", "info": info}


def _reduced(node: Any) -> Any:
    if isinstance(node, list):
        return [_reduced(one) for one in node]
    if not isinstance(node, dict):
        return node
    found = {}
    for key, value in node.items():
        if key in _LITERAL or (key == "examples" and isinstance(value, dict)):
            found[key] = value
        elif key in _NAMED and isinstance(value, dict):
            found[key] = {name: _reduced(one) for name, one in value.items()}
        else:
            found[key] = _reduced(value)
    return _schema(found)


def _schema(node: dict[str, Any]) -> dict[str, Any]:
    """Put the words of one schema that 3.0 lacks; other objects do not have them."""
    if isinstance(node.get("type"), list):
        _choose_type(node)
    for word in ("anyOf", "oneOf"):
        if isinstance(node.get(word), list) and {"type": "null"} in node[word]:
            node[word] = [one for one in node[word] if one != {"type": "null"}]
            node["nullable"] = True
    if "const" in node:
        node["enum"] = [node.pop("const")]
    if isinstance(node.get("examples"), list) and node["examples"]:
        node["example"] = node.pop("examples")[0]
    for word, plain in _BOUNDS.items():
        if word in node:
            node[plain], node[word] = node[word], True
    return node


def _choose_type(node: dict[str, Any]) -> None:
    """Replace a list of types by one, by a choice, or by `nullable`."""
    listed = node.pop("type")
    kinds = [kind for kind in listed if kind != "null"]
    if "null" in listed:
        node["nullable"] = True
    if len(kinds) == 1:
        node["type"] = kinds[0]
    elif kinds:
        node.setdefault("anyOf", [{"type": kind} for kind in kinds])
