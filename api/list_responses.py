"""Answers of lists: page lists with exact totals, cursor lists with sealed positions."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from core import clock, cursors
from core.pipeline import Rows

from . import envelopes
from .listing import Query


def page_answer(request: HttpRequest, rows: Rows, *, page: int, limit: int) -> HttpResponse:
    """The page envelope with first, prev and next links; every row carries the total, an empty page one row."""
    count = int(rows.value() or 0)
    items = [item for item in (rows.value(n, 1) for n in range(len(rows))) if item is not None]
    relations = {"first": {"page": 1, "limit": limit}}
    if page > 1:
        relations["prev"] = {"page": page - 1, "limit": limit}
    if page * limit < count:
        relations["next"] = {"page": page + 1, "limit": limit}
    content = envelopes.page(items, page=page, limit=limit, total=count)
    return envelopes.respond(content, headers={"Link": envelopes.link(request, **relations)})


def open_cursor(request: HttpRequest, query: Query, tenant_id: UUID | None) -> tuple[str | None, ...] | None:
    """The position a `cursor` parameter names, or None for the first page.

    :raises InvalidCursor: altered, of another list, tenant or filter, or too old.
    """
    text = request.GET.get("cursor")
    if text is None:
        return None
    position = cursors.open(
        text,
        tenant_id=tenant_id,
        path=request.path,
        sort=query.order.text,
        filters_hash=query.filters_hash,
        at=clock.now(),
    )
    return (*position.values, position.id)


def cursor_answer(
    request: HttpRequest, rows: Rows, *, query: Query, limit: int, tenant_id: UUID | None
) -> HttpResponse:
    """Write the cursor envelope; a row beyond the limit proves that there is a next page."""
    shown = min(len(rows), limit)
    items = [rows.value(n) or b"null" for n in range(shown)]
    token = None
    if len(rows) > limit:
        keys = [(value or b"").decode() for value in rows.row(shown - 1)[1:]]
        token = cursors.seal(
            cursors.Position(tuple(keys[:-1]), keys[-1], "next"),
            tenant_id=tenant_id,
            path=request.path,
            sort=query.order.text,
            filters_hash=query.filters_hash,
            at=clock.now(),
        )
    content = envelopes.cursor(items, next_cursor=token, limit=limit)
    headers = {"Link": envelopes.link(request, next={"cursor": token, "limit": limit})} if token else {}
    return envelopes.respond(content, headers=headers)
