"""Where a search goes on, sealed: the query, the last row, the number of matches and when the first page was read.

Nothing of it can be read in the link, neither values that were searched for nor values that were found, so that a link in a log
tells nothing of a patient; it opens for its tenant and its type only. It carries no rights: they are those of the request that
follows it.
"""

import base64
import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson

from core import cursors
from fhir_api.resources import instant

from .paging import After
from .parse import Pair
from .refusals import InvalidSearch

_SORT: Final = "search"
LONGEST: Final = cursors.MAX_CHARACTERS


@dataclass(frozen=True, slots=True)
class Bookmark:
    """What a next link holds."""

    pairs: tuple[Pair, ...]
    after: After
    seen_at: str
    total: int | None


def seal(bookmark: Bookmark, *, tenant_id: UUID, type_name: str, at: datetime) -> str:
    """Write a bookmark as a token.

    :raises InvalidSearch: the query is longer than a link may be.
    """
    plain = orjson.dumps([bookmark.pairs, bookmark.after.values, bookmark.after.date, bookmark.seen_at, bookmark.total])
    packed = base64.b85encode(zlib.compress(plain)).decode()
    position = cursors.Position((packed,), bookmark.after.id)
    token = cursors.seal(position, **_place(tenant_id, type_name), at=at)
    if len(token) > LONGEST:
        raise InvalidSearch("The search is too long to be continued; ask for fewer alternatives at once.")
    return token


def open(token: str, *, tenant_id: UUID, type_name: str, at: datetime) -> Bookmark:
    """Read a token that `seal` wrote for the same tenant and type.

    :raises InvalidCursor: altered, expired, or of another list.
    """
    position = cursors.open(token, **_place(tenant_id, type_name), at=at)
    packed = position.values[0] or ""
    pairs, values, date, seen_at, total = orjson.loads(zlib.decompress(base64.b85decode(packed)))
    after = After(tuple(values), date, position.id)
    return Bookmark(tuple((name, value) for name, value in pairs), after, seen_at, total)


def seen_at(at: datetime) -> str:
    """The moment of a first page, as the store writes times."""
    return instant(at)


def _place(tenant_id: UUID, type_name: str) -> dict[str, Any]:
    return {"tenant_id": tenant_id, "path": f"/fhir/R4/{type_name}", "sort": _SORT, "filters_hash": ""}
