"""The form of a Bundle around its entries' resources. Source: R4 bundle.html.

What is not known is refused, since a misspelt `ifNoneExist` would create twice; so is what only other types of Bundles have.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from fhir_api.resources import Json
from fhir_api.validation.definitions import validator

from .refusals import InvalidEntry

# The members, each with its type in the schema, or with the rule by which a batch or transaction does not have it.
_ELSEWHERE: Final = ""
_ELEMENT: Final = {"id": "element-id", "extension": "Extension", "modifierExtension": "Extension"}
_BUNDLE: Final = {
    "resourceType": _ELSEWHERE,
    "id": "id",
    "meta": "Meta",
    "implicitRules": "uri",
    "language": "code",
    "identifier": "Identifier",
    "type": _ELSEWHERE,
    "timestamp": "instant",
    "total": "bdl-1",
    "link": "link",
    "entry": _ELSEWHERE,
    "signature": "Signature",
}
_ENTRY: Final = {
    **_ELEMENT,
    "link": "link",
    "fullUrl": "uri",
    "resource": _ELSEWHERE,
    "search": "bdl-2",
    "request": _ELSEWHERE,
    "response": "bdl-4",
}
_REQUEST: Final = {
    **_ELEMENT,
    "method": "string",
    "url": "string",
    "ifNoneMatch": "string",
    "ifModifiedSince": "string",
    "ifMatch": "string",
    "ifNoneExist": "string",
}
_LINK: Final = {**_ELEMENT, "relation": "string", "url": "uri"}
_LISTS: Final = frozenset(("link", "extension", "modifierExtension"))
_RULES: Final = {
    "bdl-1": "only results of searches and histories have a total.",
    "bdl-2": "only results of searches say how an entry was found.",
    "bdl-4": "only answers and histories have responses.",
    "bdl-8": "a fullUrl names no version.",
}
_MEMBER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)

Fault = tuple[str, str, str]  # the place, R4's issue type, words without values


def check_bundle(bundle: Json) -> None:
    """Look at the Bundle itself.

    :raises InvalidEntry: it has a member that it cannot have, or one of another form.
    """
    _refuse(_faults(bundle, _BUNDLE, "Bundle"))


def check_entry(entry: Json, place: str) -> None:
    """Look at an entry and its request.

    :raises InvalidEntry: one has a member that it cannot have, or one of another form.
    """
    _refuse(_of_entry(entry, place))


def _refuse(faults: Iterator[Fault]) -> None:
    for place, kind, text in faults:
        raise InvalidEntry(text, expression=place, issue_type=kind)


def _of_entry(entry: Json, place: str) -> Iterator[Fault]:
    yield from _faults(entry, _ENTRY, place)
    request = entry.get("request")
    if not isinstance(request, dict):
        yield f"{place}.request", "required", "An entry has a request."
    else:
        yield from _faults(request, _REQUEST, f"{place}.request")
    if not isinstance(entry.get("resource", {}), dict):
        yield f"{place}.resource", "structure", "A resource is an object."
    if "/_history/" in entry.get("fullUrl", ""):
        yield _broken("bdl-8", f"{place}.fullUrl")


def _faults(found: Json, known: Mapping[str, str], place: str) -> Iterator[Fault]:
    for name, value in found.items():
        kind = known.get(name)
        if kind is None:
            at = f"{place}.{name}" if _MEMBER.fullmatch(name) else place
            yield at, "structure", f"There is no member {name[:64]!a} here."
        elif name in _LISTS:
            yield from _of_list(value, kind, f"{place}.{name}")
        elif kind != _ELSEWHERE:
            yield from _of_value(value, kind, f"{place}.{name}")


def _of_list(values: Any, kind: str, place: str) -> Iterator[Fault]:
    if not isinstance(values, list) or not values:
        yield place, "structure", "An array is expected."
        return
    for number, value in enumerate(values):
        yield from _of_value(value, kind, f"{place}[{number}]")


def _of_value(value: Any, kind: str, place: str) -> Iterator[Fault]:
    if kind in _RULES:
        yield _broken(kind, place)
    elif kind == "link":
        if isinstance(value, dict) and "relation" in value and "url" in value:
            yield from _faults(value, _LINK, place)
        else:
            yield place, "structure", "A link has a relation and a url."
    elif not validator(kind).is_valid(value):
        yield (
            place,
            "structure" if kind[0].isupper() else "value",
            f"This is not of type {kind.removeprefix('element-')}.",
        )


def _broken(rule: str, place: str) -> Fault:
    return place, "invariant", f"{rule}: {_RULES[rule]}"


__all__ = ["check_bundle", "check_entry"]
