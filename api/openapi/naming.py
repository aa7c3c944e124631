"""Names in the document: components, operation ids and tags follow rules; a viewset declares exceptions."""

import re
from collections.abc import Mapping
from typing import Any

_VERBS = {
    "list": "list",
    "retrieve": "get",
    "create": "create",
    "update": "replace",
    "partial_update": "update",
    "destroy": "delete",
}
_CHANGE = re.compile(r"(Patch|Change)$")
_ACRONYMS = {"api": "API", "oauth": "OAuth", "mfa": "MFA"}


def camel(text: str) -> str:
    """Write words as one name: `webhook endpoint` becomes WebhookEndpoint, `sku_taken` SkuTaken, `API key` ApiKey."""
    return "".join(word[:1].upper() + word[1:].lower() for word in re.split(r"[\s._-]+", text) if word)


def words(name: str) -> str:
    """Write a component's name in words: WebhookEndpoint becomes `webhook endpoint`, ApiKey `API key`."""
    found = re.findall(r"[A-Z][a-z0-9]*", name)
    return " ".join(_ACRONYMS.get(word.lower(), word.lower()) for word in found)


def plural(noun: str) -> str:
    """Write the plural of an English noun that ends regularly."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def request_name(serializer: str, *, partial: bool) -> str:
    """Name the component of a body: `ProductIn` is ProductRequest, of a partial update ProductPatch."""
    stem = serializer.removesuffix("In")
    return _CHANGE.sub("", stem) + "Patch" if partial else stem + "Request"


def answer_name(serializer: str) -> str:
    """Name the component of an answer: `ProductOut` is Product, and `UdiIn`, whose form a JSON column has, is Udi."""
    return serializer.removesuffix("Out").removesuffix("In")


def operation_id(view: Any, action: str, noun: str, *, listed: bool, reads: bool) -> str:
    """Name an operation as people write it: listProducts, getProduct, replaceProduct.

    Where the rule reads badly, the viewset gives the name in `operation_ids`, by action.
    """
    given: Mapping[str, str] = getattr(view, "operation_ids", {})
    if action in given:
        return given[action]
    verb = _VERBS.get(action) or ("list" if listed else "get" if reads else "")
    if verb:
        return verb + (plural(noun) if listed else noun)
    first, *rest = action.split("_")
    return first + "".join(word.capitalize() for word in rest) + ("" if rest else noun)


def tag(view: Any, path: str) -> str:
    """Name the group an operation stands in: the viewset's `tag`, or the address's first word after the version."""
    given: str = getattr(view, "tag", "")
    if given:
        return given
    parts = [part for part in path.strip("/").split("/") if part and not part.startswith("{")]
    first, *rest = (parts[1] if len(parts) > 1 else parts[0]).split("-")
    return " ".join([_ACRONYMS.get(first, first.capitalize()), *rest])
