"""What the schema finds, told as faults a client can act on: one for each broken element, never the branches of a union."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import orjson
from jsonschema_rs import ValidationError, Validator

from .definitions import definitions, validator
from .faults import CODE_INVALID, INVARIANT, REQUIRED, STRUCTURE, VALUE, Fault, Path, is_name, listed
from .rules import BY_SCHEMA

_MOST: Final = 100  # faults of one resource that are told
_LARGE: Final = 64 * 1024  # bytes; an error costs 20 us, and an item of a list may be two bytes
_FEW_CODES: Final = 16
_NOUNS: Final = {
    "array": "an array",
    "object": "an object",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
}


def faults(type_name: str, resource: dict[str, Any]) -> list[Fault]:
    """Whatever breaks the schema of a type; of a large resource the first fault alone, since all are found or one."""
    checker = validator(type_name)
    if checker.is_valid(resource):
        return []
    found: dict[tuple[Path, str, str], Fault] = {}
    for fault in islice(_found(checker, resource), _MOST):
        found.setdefault((fault.path, fault.code, fault.rule), fault)
    return _without_echoes(list(found.values()))


def _found(checker: Validator, resource: dict[str, Any]) -> Iterator[Fault]:
    is_large = len(orjson.dumps(resource, default=str)) > _LARGE
    for error in _first(checker, resource) if is_large else checker.iter_errors(resource):
        for fault in _told(list(error.schema_path), error.instance, error.kind):
            yield fault.under(*error.instance_path)


def _first(checker: Validator, resource: dict[str, Any]) -> Iterator[ValidationError]:
    try:
        checker.validate(resource)
    except ValidationError as error:
        yield error


def _without_echoes(found: list[Fault]) -> list[Fault]:
    """Leave out what is said of an element of which more has been said: an empty object also lacks what is required in it."""
    hollow = {fault.path for fault in found if fault.code == STRUCTURE}
    return [
        fault
        for fault in found
        if fault.code == STRUCTURE or not any(fault.path[:n] in hollow for n in range(1, len(fault.path) + 1))
    ]


def _told(path: list[str | int], instance: Any, kind: Any) -> Iterator[Fault]:
    keyword = str(path[-1])
    node, title, owner = _walked(path)
    if ":" in title or title in BY_SCHEMA or title in _TITLED:
        yield from _rule(title)
    elif keyword == "additionalProperties":
        yield from (_unknown(name, owner) for name in kind.unexpected)
    elif keyword == "required":
        yield Fault(REQUIRED, f"{kind.property} is required.", (kind.property,))
    elif keyword in ("type", "enum", "const") and _is_misshapen(node, keyword, instance):
        yield _misshapen(node, instance)
    elif keyword == "enum":
        yield Fault(CODE_INVALID, _codes(node["enum"]))
    else:
        yield _value(node, keyword, title)


def _walked(path: list[str | int]) -> tuple[dict[str, Any], str, str]:
    """The subschema that failed, the last title on the way to it and the definition it is part of."""
    node: Any = {"$defs": definitions()}
    title = owner = ""
    for position, part in enumerate(path[:-1]):
        node = node[part]
        if part == "$defs":
            owner = str(path[position + 1])
        if isinstance(node, dict) and isinstance(node.get("title"), str):
            title = node["title"]
    return node, title, owner


def _rule(title: str) -> Iterator[Fault]:
    kind, _, rest = title.partition(":")
    if kind == "required":
        yield Fault(REQUIRED, f"{rest} is required.", (rest,))
    elif kind == "binding":
        yield Fault(CODE_INVALID, "None of the codings is from the value set that this element requires.")
    elif kind == "targets":
        yield Fault(VALUE, f"The reference may be to {listed(rest.split(','))} only.")
    elif title in _TITLED:
        yield Fault(VALUE if title == "reference" else STRUCTURE, _TITLED[title])
    else:
        yield Fault(INVARIANT, BY_SCHEMA[title], rule=title)


_TITLED: Final = {
    "reference": "A reference is Type/id, #id of a contained resource, or an absolute URI (urn:uuid: before a UUID, urn:oid: before an OID).",
    "resource type": "The resourceType is none of FHIR R4.",
}


def _unknown(name: str, owner: str) -> Fault:
    if not is_name(name):
        return Fault(STRUCTURE, f"{owner} has a member whose name is no name of an element.")
    plain = name.removeprefix("_")
    if plain != name and plain in definitions().get(owner, {}).get("properties", {}):
        return Fault(STRUCTURE, f"{plain} is not of a primitive type, so that {name} says nothing of it.", (name,))
    return Fault(STRUCTURE, f"{name} is not an element of {owner}.", (name,))


def _is_misshapen(node: dict[str, Any], keyword: str, instance: Any) -> bool:
    return keyword == "type" or instance is None or isinstance(instance, dict | list)


def _misshapen(node: dict[str, Any], instance: Any) -> Fault:
    kinds = node.get("type", "string")
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if instance is None:
        return Fault(STRUCTURE, "null is not allowed here.")
    wanted = _NOUNS.get(kind, "a string")
    if kind in ("array", "object"):
        return Fault(STRUCTURE, f"This must be {wanted}.")
    if isinstance(instance, dict | list):
        return Fault(
            STRUCTURE, f"This must be {wanted}, not {_NOUNS['array' if isinstance(instance, list) else 'object']}."
        )
    return Fault(VALUE, f"This must be {wanted}.")


def _value(node: dict[str, Any], keyword: str, title: str) -> Fault:
    name = {"element-id": "id", "mime-type": "MIME type"}.get(title, title)
    code, words = _OTHERS.get(keyword, (VALUE, "This is not a valid {name}."))
    return Fault(code, words.format(limit=node.get(keyword), name=name or "value"))


_OTHERS: Final = {
    "const": (STRUCTURE, "This must be {limit}."),
    "maxLength": (VALUE, "This is longer than {limit} characters."),
    "maximum": (VALUE, "This is above {limit}, the largest {name}."),
    "minItems": (STRUCTURE, "An array cannot be empty."),
    "minLength": (VALUE, "A string cannot be empty."),
    "minProperties": (STRUCTURE, "An object cannot be empty."),
    "minimum": (VALUE, "This is below {limit}, the smallest {name}."),
}


def _codes(codes: list[str | None]) -> str:
    plain = [code for code in codes if code is not None]
    if len(plain) > _FEW_CODES:
        return "The code is not in the value set that this element requires."
    return f"The code must be {listed(plain)}."


__all__ = ["faults"]
