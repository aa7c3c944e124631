"""Resources as JSON: read without losing a digit, written as the bytes that are stored and answered."""

from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson

Json = dict[str, Any]

_SERVERS = ("versionId", "lastUpdated")


def written(resource: Json) -> bytes:
    """The bytes of a resource; a decimal keeps the digits it came with (`1.10`)."""
    return orjson.dumps(resource, default=_number)


def pretty(resource: Json) -> bytes:
    """The same with line breaks and indents, for people."""
    return orjson.dumps(resource, default=_number, option=orjson.OPT_INDENT_2)


def stamped(resource: Json, *, fhir_id: str, version: int, at: datetime) -> Json:
    """A resource with the id, version and time the server gives it, after `resourceType`, whatever the client sent there.

    Source: R4 http.html#create.
    """
    meta = {**(resource.get("meta") or {}), "versionId": str(version), "lastUpdated": instant(at)}
    rest = {name: value for name, value in resource.items() if name not in ("resourceType", "id", "meta")}
    return {"resourceType": resource["resourceType"], "id": fhir_id, "meta": meta, **rest}


def canonical(resource: Json) -> bytes:
    """What a client gave a resource, without what the server gave it, in one order of members: equal bytes, equal content."""
    meta = resource.get("meta", {})
    if isinstance(meta, dict):  # what is no object here is refused later
        meta = {name: value for name, value in meta.items() if name not in _SERVERS}
    rest = {name: value for name, value in resource.items() if name not in ("id", "meta")}
    return orjson.dumps({**rest, "meta": meta}, default=_number, option=orjson.OPT_SORT_KEYS)


@lru_cache(maxsize=64)  # all resources of a Bundle have the same
def instant(at: datetime) -> str:
    """A FHIR instant in UTC with milliseconds."""
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def _number(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(str(value))
    raise TypeError(type(value).__name__)
