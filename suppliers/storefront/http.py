"""One request for a page that the market's role reads: what the query string asks, and the answer.

Source: contract, conventions.md "Paging" and "Filtering and sorting".
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.serializers import Serializer

from api.chosen_members import chosen_members, with_members
from api.families import CURSORS
from api.filters import Filters, check_names, conditions
from api.list_responses import asked_limit, keyset_answer, open_keyset
from api.sorts import UnknownSort
from core.conditions import Condition

from .sorts import Sort


class MarketPage:
    """A request for a page; what it asks is read once the tenant is known, so that a missing right is told first.

    `sorts` are columns with the type of their values, by the name that clients use.
    """

    filters: ClassVar[type[Filters]]
    item: ClassVar[type[Serializer[Any]]]
    sorts: ClassVar[Mapping[str, tuple[str, str]]]
    default_sort: ClassVar[str]

    def __init__(self, request: HttpRequest) -> None:
        self.request = request

    @classmethod
    def sort_parameter(cls) -> dict[str, Any]:
        """Return the parameter `sort` of the API document."""
        names = ", ".join(f"`{name}`" for name in cls.sorts)
        return {
            "name": "sort",
            "in": "query",
            "description": f"One of {names}, `-` before it for descending.",
            "schema": {"type": "string", "default": cls.default_sort},
        }

    def read(self) -> None:
        """Read filters, members and sort.

        :raises InvalidFields, UnknownParameter, DuplicateParameter, UnknownField, UnknownSort: as for any list.
        """
        query = self.request.GET
        check_names(query, (*self.filters.base_filters, "fields", "sort", "limit", "cursor"))
        self.chosen = chosen_members(query, self.item)
        self.given: dict[str, Condition] = dict(conditions(self.filters, query))
        self.text = query.get("sort") or self.default_sort
        found = self.sorts.get(self.text.removeprefix("-"))
        if found is None:
            raise UnknownSort(f"Cannot sort by {self.text[:64]!r}.", allowed=sorted(self.sorts))
        self.sort = Sort(*found, down=self.text.startswith("-"))

    def begin(self, tenant_id: UUID) -> tuple[str, ...] | None:
        """Read the limit, and where the page begins; None for the first.

        :raises InvalidPage, InvalidCursor: as for any list.
        """
        self.limit = asked_limit(self.request.GET, CURSORS)
        return open_keyset(self.request, sort=self.text, filters=self._digest, tenant_id=tenant_id)

    def written(self, tenant_id: UUID, items: Sequence[bytes], after: tuple[str, ...] | None) -> HttpResponse:
        """Write the page; `after` is the key of its last item where more follow."""
        return keyset_answer(
            self.request,
            [with_members(one, self.chosen) for one in items],
            after=after,
            sort=self.text,
            filters=self._digest,
            tenant_id=tenant_id,
            limit=self.limit,
        )

    @property
    def _digest(self) -> str:
        parts = [f"{name}={one.parameters}" for name, one in sorted(self.given.items())]
        return hashlib.sha256("&".join(parts).encode()).hexdigest()
