"""Successful answers in the document: the representation, its envelope and headers, and an example."""

from typing import Any, NamedTuple

from rest_framework.serializers import BaseSerializer

from api.families import FAMILIES, CredentialKind, Envelope, Style
from api.operations import Operation
from api.shapes import Shape

from .components import Components, Schema
from .examples import example_of
from .headers import ALWAYS, headers
from .naming import plural, words

_INTEGER: Schema = {"type": "integer"}
_CURSOR = "bmV4dCBwYWdl"


class _Answer(NamedTuple):
    """The representation of an answer: the component's name, the reference to it, an example."""

    name: str
    reference: Schema
    example: Any


def answer_form(declared: Operation) -> type[BaseSerializer[Any]] | None:
    """Return the serializer of an operation's answer, without the envelope; None for an answer without a body."""
    if declared.status == 204:
        return None
    if declared.listing is not None:
        return _form_of(declared.listing.shape)
    return declared.items or declared.answer or (_form_of(declared.shape) if declared.shape is not None else None)


def _form_of(shape: Shape) -> type[BaseSerializer[Any]]:
    found: type[BaseSerializer[Any]] = shape.representation
    return found


def success(declared: Operation, inspector: Any, components: Components) -> Schema:
    """Return the successful response, a component that all operations with the same answer share."""
    view, form = inspector.view, answer_form(declared)
    if form is None:
        content = {"description": "Done; the answer has no body.", "headers": headers(_names(declared), components)}
        return components.response("NoContent", content)
    name, reference = inspector.answer_reference(form)
    answer = _Answer(name, reference, example_of(form()))
    listed = declared.listing is not None or declared.items is not None
    if listed:
        media = _list(answer, inspector, components)
        return components.response(
            f"{name}List", _response(f"A page of {words(plural(name))}.", media, declared, components)
        )
    media = _one(answer, declared, view, components)
    suffix, text = {201: ("Created", "made"), 202: ("Accepted", "accepted")}.get(declared.status, ("", ""))
    name, noun = ("Bare" * declared.public) + name, words(name)
    if declared.media:
        name += "Document"
    description = f"The {noun}, which was {text}." if text else f"The {noun}."
    located = declared.status == 201 and "retrieve" in view.operations
    return components.response(name + suffix, _response(description, media, declared, components, located=located))


def _response(
    description: str, media: Schema, declared: Operation, components: Components, *, located: bool = False
) -> Schema:
    return {
        "description": description,
        "headers": headers(_names(declared, located=located), components),
        "content": {"application/json": media, **further_content(declared)},
    }


def further_content(declared: Operation) -> Schema:
    """Describe what is answered in other media types, which have schemas of their own."""
    return {
        one.type: {"schema": {"type": "object" if one.type.endswith("json") else "string", "description": one.text}}
        for one in declared.media
    }


def _names(declared: Operation, *, located: bool = False) -> tuple[str, ...]:
    """Return the names of the answer's headers."""
    names = list(ALWAYS)
    if declared.listing is not None or declared.items is not None:
        return (*names, "Link")
    if declared.shape is not None and declared.shape.version:
        names.append("ETag")
    return (*names, *["Location"] * located)


def not_modified(components: Components) -> Schema:
    """Return the response of a read whose If-None-Match names the current version."""
    content = {
        "description": "The version that If-None-Match names is the current one.",
        "headers": headers((*ALWAYS, "ETag"), components),
    }
    return components.response("NotModified", content)


def _one(answer: _Answer, declared: Operation, view: Any, components: Components) -> Schema:
    """Describe one object in its family's envelope; public operations have no envelope, as OAuth prescribes."""
    name = answer.name
    if declared.public:
        return {"schema": answer.reference, "examples": {"answer": components.example(name, answer.example)}}
    envelopes = {style.envelope for style in _styles(view.family)}
    data = {"type": "array", "items": answer.reference} if declared.many else answer.reference
    envelope = _object(**_flag(Envelope.SUPPLIER in envelopes), data=data)
    example = [answer.example] if declared.many else answer.example
    value = {"success": True, "data": example} if envelopes == {Envelope.SUPPLIER} else {"data": example}
    envelope["required"] = [*value]  # a family with both envelopes says `success` to API keys alone
    return {
        "schema": components.schema(f"{name}Response", envelope),
        "examples": {"answer": components.example(f"{name}Response", value)},
    }


def _list(answer: _Answer, inspector: Any, components: Components) -> Schema:
    """Describe a page of a list, of each kind that the family's credentials get."""
    name = answer.name
    others = [inspector.answer_reference(form)[1] for form in getattr(inspector.view, "also_listed", ())]
    items: Schema = {"type": "array", "items": {"anyOf": [answer.reference, *others]} if others else answer.reference}
    schemas: list[Schema] = []
    examples: Schema = {}
    for kind in paging_kinds(inspector.view.family):
        if kind == "page":
            schemas.append(components.schema(f"{name}Page", _page(items)))
            value: Any = {"success": True, "data": {"items": [answer.example], "page": 1, "limit": 20, "total": 1}}
            examples["page"] = components.example(f"{name}Page", value)
        else:
            schemas.append(components.schema(f"{name}List", _cursor(items)))
            value = {"data": [answer.example], "next_cursor": _CURSOR, "has_more": True, "limit": 50}
            examples["cursor"] = components.example(f"{name}List", value)
    return {"schema": schemas[0] if len(schemas) == 1 else {"oneOf": schemas}, "examples": examples}


def paging_kinds(family: str) -> tuple[str, ...]:
    """Return how the family's lists are paged: by `page`, by `cursor`, or by both, depending on the credential."""
    return tuple(dict.fromkeys(style.paging.parameter for style in _styles(family)))


def _styles(family: str) -> list[Style]:
    styles = FAMILIES[family].styles
    return [styles[kind] for kind in (CredentialKind.API_KEY, CredentialKind.BEARER) if kind in styles]


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
