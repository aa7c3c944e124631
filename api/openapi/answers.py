"""Successful answers in the document: the representation, its envelope, its headers, an example of each."""

from typing import Any

from api.permissions import Operation
from api.shapes import Shape

from .components import Components, Schema
from .headers import ALWAYS, headers
from .naming import camel, plural, words

_INTEGER: Schema = {"type": "integer"}
_CURSOR = "bmV4dCBwYWdl"


def answer_component(declared: Operation, view: Any) -> tuple[str, Schema] | None:
    """The name and the schema of what an operation answers, without its envelope; None where the answer has no body.

    Everything else takes representations from here alone. `schema["examples"]` holds the example.
    """
    shape = declared.listing.shape if declared.listing is not None else declared.shape
    if declared.status == 204:
        return None
    written = declared.answer or declared.items
    if written is not None:
        return str(written["title"]), {name: value for name, value in written.items() if name != "title"}
    if shape is None:
        return None
    return _of_shape(shape)


def _of_shape(shape: Shape) -> tuple[str, Schema]:
    return camel(shape.name), shape.schema()


def success(declared: Operation, view: Any, components: Components) -> Schema:
    """The successful response, which is a component: every operation that answers the same shares it."""
    found = answer_component(declared, view)
    if found is None:
        content = {"description": "Done; the answer has no body.", "headers": headers(_names(declared), components)}
        return components.response("NoContent", content)
    name, schema = found
    listed = declared.listing is not None or declared.items is not None
    if listed:
        media = _list(name, schema, declared, view, components)
        return components.response(
            f"{name}List", _response(f"A page of {words(plural(name))}.", media, declared, components)
        )
    media = _one(name, schema, declared, view, components)
    suffix, text = {201: ("Created", "made"), 202: ("Accepted", "accepted")}.get(declared.status, ("", ""))
    name, noun = ("Bare" * declared.public) + name, words(name)
    description = f"The {noun}, which was {text}." if text else f"The {noun}."
    return components.response(name + suffix, _response(description, media, declared, components))


def _response(description: str, media: Schema, declared: Operation, components: Components) -> Schema:
    return {
        "description": description,
        "headers": headers(_names(declared), components),
        "content": {"application/json": media},
    }


def _names(declared: Operation) -> tuple[str, ...]:
    """The headers of the answer."""
    names = list(ALWAYS)
    if declared.listing is not None or declared.items is not None:
        return (*names, "Link")
    if declared.shape is not None and declared.shape.version:
        names.append("ETag")
    if declared.status == 201 and declared.tenant != "none":
        names.append("Location")
    return tuple(names)


def not_modified(components: Components) -> Schema:
    """The response of a read whose If-None-Match names the current version."""
    content = {
        "description": "The version that If-None-Match names is the current one.",
        "headers": headers((*ALWAYS, "ETag"), components),
    }
    return components.response("NotModified", content)


def _one(name: str, schema: Schema, declared: Operation, view: Any, components: Components) -> Schema:
    """One object in the envelope of its family; sign-in answers bare, as OAuth does."""
    example = _example(schema)
    reference = _representation(name, schema, components)
    if declared.public:
        return {"schema": reference, "examples": {"answer": components.example(name, example)}}
    supplier = view.family == "supplier"
    envelope = _object(**_flag(supplier), data=reference)
    value = {"success": True, "data": example} if supplier else {"data": example}
    return {
        "schema": components.schema(f"{name}Response", envelope),
        "examples": {"answer": components.example(f"{name}Response", value)},
    }


def _list(name: str, schema: Schema, declared: Operation, view: Any, components: Components) -> Schema:
    """A page of the family's kind; in the family `webhooks` the credential decides which."""
    example = _example(schema)
    item = _representation(name, schema, components)
    others = [_representation(*_of_shape(shape), components) for shape in getattr(view, "also_listed", ())]
    items: Schema = {"type": "array", "items": {"anyOf": [item, *others]} if others else item}
    kinds = {"supplier": ("page",), "webhooks": ("page", "cursor")}.get(view.family, ("cursor",))
    schemas: list[Schema] = []
    examples: Schema = {}
    for kind in kinds:
        if kind == "page":
            schemas.append(components.schema(f"{name}Page", _page(items)))
            value: Any = {"success": True, "data": {"items": [example], "page": 1, "limit": 20, "total": 1}}
            examples["page"] = components.example(f"{name}Page", value)
        else:
            schemas.append(components.schema(f"{name}List", _cursor(items)))
            value = {"data": [example], "next_cursor": _CURSOR, "has_more": True, "limit": 50}
            examples["cursor"] = components.example(f"{name}List", value)
    return {"schema": schemas[0] if len(schemas) == 1 else {"oneOf": schemas}, "examples": examples}


def _representation(name: str, schema: Schema, components: Components) -> Schema:
    bare = {key: value for key, value in schema.items() if key != "examples"}
    return components.schema(name, components.lifted(bare))


def _example(schema: Schema) -> Any:
    (example, *_) = schema.get("examples") or ({},)
    return example


def _flag(supplier: bool) -> Schema:
    return {"success": {"type": "boolean", "const": True}} if supplier else {}


def _object(**members: Schema) -> Schema:
    return {"type": "object", "required": list(members), "properties": members}


def _page(items: Schema) -> Schema:
    page = _object(items=items, page=_INTEGER, limit=_INTEGER, total=_INTEGER)
    return _object(**_flag(supplier=True), data=page)


def _cursor(items: Schema) -> Schema:
    cursor: Schema = {"type": ["string", "null"], "description": "For the next page; null on the last one."}
    return _object(data=items, next_cursor=cursor, has_more={"type": "boolean"}, limit=_INTEGER)
