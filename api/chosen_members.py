"""`fields` of an answer whose JSON is not selected member by member: what was not asked for is left out of the finished JSON.

Source: contract, conventions.md "Filtering and sorting".
"""

from collections.abc import Collection
from functools import lru_cache
from typing import Any

import orjson
from django.http import QueryDict
from rest_framework.serializers import Serializer

from .shapes import wanted_fields


def chosen_members(query: QueryDict, answer: type[Serializer[Any]]) -> Collection[str] | None:
    """Return the members that `fields` names, the id with them; None for all.

    :raises UnknownField: the answer has no such member; the refusal lists those that it has.
    """
    wanted = wanted_fields(query.get("fields"), _members(answer))
    return {"id", *wanted} if wanted else None


def with_members(content: bytes, chosen: Collection[str] | None) -> bytes:
    """Return a JSON object with the chosen members only."""
    if chosen is None:
        return content
    return orjson.dumps({name: value for name, value in orjson.loads(content).items() if name in chosen})


@lru_cache(maxsize=64)
def _members(answer: type[Serializer[Any]]) -> tuple[str, ...]:
    return tuple(answer().fields)
