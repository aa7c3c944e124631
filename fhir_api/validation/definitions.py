"""The generated schema, and the validators made of it: one for each type, built when the type is first met."""

from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import orjson

_FILE: Final = Path(__file__).resolve().parent.parent / "definitions" / "schema.json"


@cache
def schema() -> dict[str, Any]:
    """The whole schema (130 kB of JSON, parsed in about a millisecond)."""
    found: dict[str, Any] = orjson.loads(_FILE.read_bytes())
    return found


@cache
def definitions() -> dict[str, Any]:
    """The definition of every type and every backbone element."""
    found: dict[str, Any] = schema()["$defs"]
    return found


@cache
def choices() -> dict[str, tuple[str, str]]:
    """Element and type behind a name of a choice: `valueQuantity` is `value` as Quantity."""
    return {name: (stem, kind) for name, (stem, kind) in schema()["choices"].items()}


@cache
def resource_types() -> frozenset[str]:
    """The names of all types of resources of R4."""
    return frozenset(definitions()["contained"]["properties"]["resourceType"]["enum"])


@cache
def validator(type_name: str) -> jsonschema_rs.Draft202012Validator:
    """A validator of one type: about 12 ms to build, 2 MB to keep. Its expressions run in linear time."""
    return jsonschema_rs.Draft202012Validator(
        {"$ref": f"#/$defs/{type_name}", "$defs": definitions()},
        pattern_options=jsonschema_rs.RegexOptions(),
        offline=True,
    )


__all__ = ["choices", "definitions", "resource_types", "schema", "validator"]
