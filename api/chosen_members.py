"""`fields` of an answer whose JSON is not selected member by member: what was not asked for is left out of the finished JSON.

Source: contract, conventions.md "Filtering and sorting".
"""

from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

import orjson
from django.http import QueryDict
from rest_framework.serializers import Serializer

from .shapes import UnknownField, names_of

FIELDS: Final[dict[str, Any]] = {
    "name": "fields",
    "in": "query",
    "description": "Comma-separated members to return, beside the id. The schema describes an answer without `fields`.",
    "schema": {"type": "string"},
}


def chosen_members(query: QueryDict, answer: type[Serializer[Any]]) -> Collection[str] | None:
    """Return the members that `fields` names, the id with them; None for all.

    :raises UnknownField: the answer has no such member; the refusal lists those that it has.
    """
    given = query.get("fields")
    if given is None or not (wanted := names_of(given)):
        return None
    known = _members(answer)
    for name in wanted:
        if name not in known:
            raise UnknownField(f"There is no field {name[:64]!r}.", allowed=[*known])
    return {"id", *wanted}


def with_members(content: bytes, chosen: Collection[str] | None) -> bytes:
    """Return a JSON object with the chosen members only."""
    if chosen is None:
        return content
    return orjson.dumps({name: value for name, value in orjson.loads(content).items() if name in chosen})


@lru_cache(maxsize=64)
def _members(answer: type[Serializer[Any]]) -> tuple[str, ...]:
    return tuple(answer().fields)
