"""Parameters in the document: shared ones are components, the others are written with their operation."""

from collections.abc import Iterator
from typing import Any

from api.operations import Operation

from .answers import paging_kinds
from .components import Components, Schema
from .naming import camel, words
from .refusals import Situation

_TEXT: Schema = {"type": "string"}
_UUID: Schema = {"type": "string", "format": "uuid"}
_KEY: Schema = {"type": "string", "minLength": 1, "maxLength": 255}
_HEADERS: dict[str, tuple[str, str, Schema]] = {
    "TenantId": ("X-Tenant-Id", "The tenant to act in. A credential that reaches one tenant may leave it out.", _UUID),
    "MembershipId": ("X-Membership-Id", "The membership to act under, one of the caller's own in the tenant.", _UUID),
    "IdempotencyKey": (
        "Idempotency-Key",
        "1 to 255 printable ASCII characters. A repeat with the same key gets the first answer; see Retrying.",
        _KEY,
    ),
    "IfMatch": (
        "If-Match",
        "The ETag that was read. If the resource has changed since, the answer is 409 version_conflict.",
        _TEXT,
    ),
    "IfNoneMatch": ("If-None-Match", "An ETag that was read. If it is still current, the answer is 304.", _TEXT),
}
_LIMIT: Schema = {"type": "integer", "minimum": 1}
_QUERY: dict[str, tuple[str, str, Schema]] = {
    "Page": ("page", "The page number, from 1.", {"type": "integer", "minimum": 1, "default": 1}),
    "Cursor": ("cursor", "The `next_cursor` of the previous page, with the same filters and `sort`.", _TEXT),
    "PageLimit": ("limit", "Items per page; a number above 100 counts as 100.", {**_LIMIT, "default": 20}),
    "CursorLimit": ("limit", "Items per page; a number above 200 counts as 200.", {**_LIMIT, "default": 50}),
    "Fields": (
        "fields",
        "Comma-separated members to return, beside the id. The schema describes an answer without `fields`.",
        _TEXT,
    ),
}
_FORMS: tuple[tuple[str, Schema], ...] = (
    ("UUID", _UUID),
    ("Boolean", {"type": "boolean"}),
    ("IsoDateTime", {"type": "string", "format": "date-time"}),
    ("DateTime", {"type": "string", "format": "date-time"}),
    ("Date", {"type": "string", "format": "date"}),
    ("Number", {"type": "number"}),
)


def parameters(situation: Situation, view: Any, components: Components) -> list[Schema]:
    """Return every parameter of an operation, in the order path, headers, query."""
    declared = situation.declared
    return [
        *_of_path(situation.path, components),
        *(components.parameter(name, _parameter("header", *_HEADERS[name])) for name in _headers(situation)),
        *_of_query(declared, view.family, components),
    ]


def _parameter(place: str, name: str, text: str, schema: Schema) -> Schema:
    return {"name": name, "in": place, "description": text, "schema": schema}


def _of_path(path: str, components: Components) -> Iterator[Schema]:
    for part in path.split("/"):
        if not part.startswith("{"):
            continue
        name = part.strip("{}")
        by_id = name in ("id", "pk") or name.endswith("_id")
        text = f"The {words(camel(name)).removesuffix(' id')}'s id." if name.endswith("_id") else "The resource's id."
        content = _parameter("path", name, text if by_id else f"The {name}.", _UUID if by_id else _TEXT)
        yield components.parameter(camel(name), {**content, "required": True})


def _headers(situation: Situation) -> Iterator[str]:
    if situation.tenanted:
        yield from ("TenantId", "MembershipId")
    if situation.writes and situation.tenanted:
        yield "IdempotencyKey"
    if situation.writes and situation.has_target and (situation.method != "POST" or situation.declared.find):
        yield "IfMatch"
    if situation.etag:
        yield "IfNoneMatch"


def _of_query(declared: Operation, family: str, components: Components) -> Iterator[Schema]:
    yield from declared.parameters
    if documents := [name for one in declared.media for name in one.documents]:
        text = f"Which document, of {', '.join(one.type for one in declared.media if one.documents)}."
        usual = {"default": documents[0]} if all(one.has_usual for one in declared.media) else {}
        yield _parameter("query", "document", text, {**_TEXT, "enum": documents, **usual})
    shape = declared.listing.shape if declared.listing is not None else declared.shape
    if declared.chooses or (shape is not None and declared.status != 204):
        yield _shared("Fields", components)
        if shape is not None and shape.includes:
            names = ", ".join(f"`{member.name}`" for member in shape.includes)
            yield _parameter("query", "include", f"Comma-separated members to add: {names}.", _TEXT)
    if declared.listing is not None:
        text = ", ".join(f"`{name}`" for name in sorted(declared.listing.sorts))
        schema = {**_TEXT, "default": declared.listing.default_sort}
        yield _parameter("query", "sort", f"Comma-separated names, `-` before a name for descending: {text}.", schema)
    if declared.listing is not None or declared.items is not None:
        yield from (_shared(name, components) for name in _paging(family))
    filters = declared.listing.filters if declared.listing is not None else declared.filters
    if filters is not None:
        for name, one in filters.base_filters.items():
            yield _parameter("query", name, _filter_text(name, one), _filter_schema(one))


def _shared(name: str, components: Components) -> Schema:
    return components.parameter(name, _parameter("query", *_QUERY[name]))


def _paging(family: str) -> tuple[str, ...]:
    kinds = paging_kinds(family)
    named = {"page": "Page", "cursor": "Cursor"}
    return (*(named[kind] for kind in kinds), "CursorLimit" if "cursor" in kinds else "PageLimit")


def _filter_text(name: str, declared: Any) -> str:
    given = str(declared.extra.get("help_text") or "")
    return given or f"Only items with this `{name}`."


def _filter_schema(declared: Any) -> Schema:
    kind = type(declared).__name__
    if kind == "ChoiceFilter":
        return {"type": "string", "enum": [value for value, _ in declared.extra["choices"]]}
    return next((form for prefix, form in _FORMS if kind.startswith(prefix)), _TEXT)
