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
def choices(owner: str) -> dict[str, str]:
    """The element behind each name of a choice in a definition: `valueQuantity` is `value`."""
    stems: dict[str, list[str]] = schema()["choices"].get(owner, {})
    return {stem + kind[0].upper() + kind[1:]: stem for stem, kinds in stems.items() for kind in kinds}


@cache
def extensions() -> dict[str, frozenset[str]]:
    """By the URL of an extension that search parameters name, the members that its value may be in."""
    found: dict[str, list[str]] = orjson.loads(_FILE.with_name("extensions.json").read_bytes())
    return {url: frozenset(f"value{kind[0].upper()}{kind[1:]}" for kind in kinds) for url, kinds in found.items()}


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


__all__ = ["choices", "definitions", "extensions", "resource_types", "schema", "validator"]
