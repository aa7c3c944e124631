"""Pages of the lines of one document: `GET /documents/{id}?lines_page=2&lines_limit=50` shows a page in the place of the first lines.

A viewset reads the document and, where a page is asked for, the page in the same trip. Source: contract, supply-order.md 2.
"""

from typing import Any, Final, NamedTuple

import orjson
from django.http import QueryDict

from .page_numbers import positive
from .shapes import Selection

NAMES: Final = ("lines_page", "lines_limit")


def parameters(most: int) -> tuple[dict[str, Any], ...]:
    """Return the parameters for the OpenAPI document; a page has at most so many lines."""
    number = {"type": "integer", "minimum": 1}
    return (
        {"name": "lines_page", "in": "query", "description": "The page of lines.", "schema": number},
        {
            "name": "lines_limit",
            "in": "query",
            "description": "Lines on a page.",
            "schema": number | {"maximum": most, "default": most},
        },
    )


class LinesPage(NamedTuple):
    """A page of lines that is asked for, counted from 1, and how many lines it has at most."""

    page: int
    limit: int

    @property
    def bounds(self) -> list[str]:
        """The number of the page's first line, and the limit, as parameters of a statement."""
        return [str((self.page - 1) * self.limit + 1), str(self.limit)]

    def selection(self, chosen: Selection) -> Selection:
        """Return what the answer's tag is made of: with a page it holds a digest of the content."""
        return Selection(chosen.fields, ("lines_page",))

    def put_into(self, content: bytes, lines: bytes, address: str) -> bytes:
        """Put the page into the JSON of a document, where the caller has asked for lines; `address` is the document's."""
        found = orjson.loads(content)
        if "lines" in found:
            found["lines"] = orjson.loads(lines)
        if "lines_next" in found:
            more = self.page * self.limit < found.get("lines_total", 0)
            following = f"{address}?lines_page={self.page + 1}&lines_limit={self.limit}"
            found["lines_next"] = following if more else None
        return orjson.dumps(found)


def asked_lines(query: QueryDict, most: int) -> LinesPage | None:
    """Return the page of lines that a query asks for; None where it names none.

    :raises InvalidPage: a number is not positive.
    """
    if not any(name in query for name in NAMES):
        return None
    page, limit = (positive(query.get(name), default) for name, default in zip(NAMES, (1, most), strict=True))
    return LinesPage(page, min(limit, most))
