"""Problem documents in the OpenAPI document: a schema and an example for each code, and the response of a status.

A code's extension members come from `PlatformError.extensions` and `.optional_extensions`, which hold example values.
"""

from collections.abc import Iterable
from typing import Any

from api.errors import status_of
from core.errors import InvalidFields, PlatformError

from .components import Components, Schema
from .headers import ALWAYS, headers
from .naming import camel

Refusal = type[PlatformError]

PHRASES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    406: "NotAcceptable",
    408: "RequestTimeout",
    409: "Conflict",
    410: "Gone",
    413: "ContentTooLarge",
    415: "UnsupportedMediaType",
    422: "Unprocessable",
    429: "TooManyRequests",
    503: "ServiceUnavailable",
}
_DESCRIPTIONS = {
    400: "The request is malformed, or a field is invalid.",
    401: "The credential is missing, invalid or expired.",
    403: "The credential is valid, but does not permit this.",
    404: "The resource does not exist, or the caller may not see it; the two look alike.",
    406: "The caller accepts no media type that the operation writes.",
    408: "The body did not arrive in time.",
    409: "The request conflicts with the current state of the resource.",
    410: "The resource was deleted.",
    413: "The body is too large.",
    415: "The body's media type or content coding is not supported.",
    422: "The request is well formed, but cannot be carried out.",
    429: "Too many requests; wait as long as `Retry-After` says.",
    503: "The service cannot answer now; try again after `Retry-After`.",
}
_HEADERS = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}
_TEXT: Schema = {"type": "string"}

PROBLEM: Schema = {
    "type": "object",
    "description": "The body of every refusal. Source: RFC 9457. Switch on `code`, which never changes its meaning.",
    "required": ["type", "title", "status", "detail", "instance", "code", "success", "request_id", "errors"],
    "properties": {
        "type": {**_TEXT, "format": "uri-reference", "description": "The address of a page about the code."},
        "title": {**_TEXT, "description": "The code in words, the same for every occurrence."},
        "status": {"type": "integer", "description": "The HTTP status."},
        "detail": {**_TEXT, "description": "What was wrong with this request."},
        "instance": {**_TEXT, "description": "The path of the request."},
        "code": _TEXT,
        "success": {"type": "boolean", "const": False},
        "request_id": {**_TEXT, "description": "The id to quote to support."},
        "errors": {"type": "array", "items": {"$ref": "#/components/schemas/FieldProblem"}},
    },
}
FIELD_PROBLEM: Schema = {
    "type": "object",
    "description": "One fault of one field; `field` and `pointer` are empty for a fault of the whole body.",
    "required": ["field", "pointer", "code", "message"],
    "properties": {
        "field": {**_TEXT, "description": "Dotted: `packagings.0.gtin`."},
        "pointer": {**_TEXT, "description": "The same as a JSON Pointer: `/packagings/0/gtin`."},
        "code": _TEXT,
        "message": _TEXT,
        "trace": {
            "type": "array",
            "items": {"type": "object", "additionalProperties": True},
            "description": "Of `price_not_available`: what was looked at for the line, as a quote tells it.",
        },
        "available": {
            "type": "integer",
            "description": "Of `insufficient_stock`, for a supplier: the base units that are free.",
        },
        "reason": {
            **_TEXT,
            "description": "Of `lot_not_shippable`: `expired`, `quarantined`, `recalled` or `shelf_life_too_short`.",
        },
        "remaining": {
            "type": "integer",
            "description": "Of `over_invoiced` and `credit_exceeds_invoice`: the base units that are left.",
        },
        "left": {**_TEXT, "description": "Of `exceeds_balance`: the amount that is left, a decimal."},
    },
}
_FIELD_EXAMPLE = {"field": "name", "pointer": "/name", "code": "required", "message": "This field is required."}


def problem_response(status: int, kinds: Iterable[Refusal], components: Components) -> Schema:
    """Return the response of one status: one of the problems with these codes, each with an example."""
    by_code: dict[str, list[Refusal]] = {}
    for kind in kinds:
        by_code.setdefault(kind.code, []).append(kind)
    references = [_register(code, by_code[code], components) for code in sorted(by_code)]
    schemas = [schema for schema, _ in references]
    return {
        "description": _DESCRIPTIONS.get(status, "The request was refused."),
        "headers": headers((*ALWAYS, *_HEADERS.get(status, ())), components),
        "content": {
            "application/problem+json": {
                "schema": schemas[0] if len(schemas) == 1 else {"oneOf": schemas},
                "examples": {code: example for code, (_, example) in zip(sorted(by_code), references, strict=True)},
            }
        },
    }


def _register(code: str, kinds: list[Refusal], components: Components) -> tuple[Schema, Schema]:
    """Register schema and example of a code, made from every class that has it; the most general gives the title.

    A code that stands for refusals of several statuses has a schema for each; all but the first are named by their status.
    """
    word = camel(code)
    if any(status_of(one) != status_of(kinds[0]) for one in components.source_of(f"{word}Problem") or ()):
        word += str(status_of(kinds[0]))
    name = f"{word}Problem"
    known: frozenset[Refusal] = (components.source_of(name) or frozenset()) | frozenset(kinds)
    ordered = sorted(known, key=lambda kind: (len(kind.__mro__), kind.__module__, kind.__qualname__))
    schema = components.replace_schema(name, _schema(code, ordered), built_from=known)
    return schema, components.replace_example(word, _example(ordered), ordered[0].title)


def _schema(code: str, kinds: list[Refusal]) -> Schema:
    always = {
        name: value for name, value in kinds[0].extensions.items() if all(name in kind.extensions for kind in kinds)
    }
    members: dict[str, Any] = {}
    for kind in kinds:
        members |= {**kind.optional_extensions, **kind.extensions}
    members = {name: value for name, value in members.items() if name not in PROBLEM["properties"]}
    own: Schema = {"type": "object", "properties": {"code": {"type": "string", "enum": [code]}}}
    own["properties"] |= {name: schema_of(value) for name, value in members.items()}
    own["required"] = ["code", *(name for name in always if name in members)]
    return {"description": kinds[0].title, "allOf": [{"$ref": "#/components/schemas/Problem"}, own]}


def schema_of(value: Any) -> Schema:
    """Return the schema of an example value; a tuple holds one value of each possible type."""
    if isinstance(value, dict):
        inner = [schema_of(one) for one in value.values()]
        is_uniform = bool(inner) and all(one == inner[0] for one in inner)
        return {"type": "object", "additionalProperties": inner[0] if is_uniform else True}
    if isinstance(value, tuple):
        return {"type": [schema_of(one)["type"] for one in value]}
    if isinstance(value, list):
        return {"type": "array", "items": schema_of(value[0]) if value else {}}
    kinds: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return {"type": kinds[type(value)]}


def _example(kinds: list[Refusal]) -> Schema:
    kind = kinds[0]
    members = {name: value for one in reversed(kinds) for name, value in one.extensions.items()}
    members = {name: value[0] if isinstance(value, tuple) else value for name, value in members.items()}
    found = {
        "type": members.pop("type", f"/problems/{kind.code}"),
        "title": kind.title,
        "status": status_of(kind),
        "detail": kind.title,
        "instance": "/v1/…",
        "code": kind.code,
        "success": False,
        "request_id": "01890a5d-ac96-774b-bcce-b302099a8057",
    }
    return {**found, **members, "errors": [_FIELD_EXAMPLE] if issubclass(kind, InvalidFields) else []}
