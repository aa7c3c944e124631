"""The catalogue of events as clients read it, printed from the ledger's registry: type, JSON Schema, example."""

import types
import typing
from functools import lru_cache
from typing import Any

import orjson

from ledger import public as ledger
from ledger.public import EventType

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    dict: {"type": "object"},
    list: {"type": "array"},
    types.NoneType: {"type": "null"},
}
_EXAMPLES = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "object": {}, "array": [], "null": None}
_EXAMPLE_ID = "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b90"


@lru_cache(maxsize=1)
def written() -> tuple[bytes, ...]:
    """Every kind of event as JSON, by name; the registry is complete once the apps are loaded."""
    return tuple(orjson.dumps(describe(kind)) for kind in ledger.catalogue().values())


def describe(kind: type[EventType]) -> dict[str, Any]:
    """Write one kind of event: its name, version, and the schema and an example of `data.object`."""
    schema, example = _fields(kind)
    text = (kind.__doc__ or "").strip().splitlines()
    return {
        "type": kind.type,
        "version": kind.version,
        "resource": kind.resource,
        "data_class": kind.data_class,
        "description": text[0] if text else "",
        "schema": schema,
        "example": example,
    }


def _fields(kind: type[EventType]) -> tuple[dict[str, Any], dict[str, Any]]:
    hints = typing.get_type_hints(kind)
    properties: dict[str, Any] = {"type": {"const": kind.resource}, "id": {"type": "string", "format": "uuid"}}
    example: dict[str, Any] = {"type": kind.resource, "id": _EXAMPLE_ID}
    for member in kind.payload_fields():
        if member.name != "previous":
            properties[member.name] = _schema(hints[member.name])
            given = member.metadata.get("example")
            example[member.name] = given.format_map(example) if given else _example(properties[member.name])
    properties["version"] = {"type": ["integer", "null"]}
    example["version"] = 1
    if kind.href:
        properties["href"] = {"type": "string"}
        example["href"] = kind.href.format_map(example)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": list(properties),
    }
    return schema, example


def _schema(hint: Any) -> dict[str, Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [_schema(argument) for argument in arguments]}
    if origin in (list, tuple) and arguments:
        return {"type": "array", "items": _schema(arguments[0])}
    return dict(_PLAIN.get(origin or hint, {}))


def _example(schema: dict[str, Any]) -> Any:
    found = schema["anyOf"][0] if "anyOf" in schema else schema
    if found.get("items"):
        return [_example(found["items"])]
    return _EXAMPLES.get(found.get("type", "object"))
