"""Answers of lists: page lists with exact totals, cursor lists with sealed positions."""

from collections.abc import Sequence
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict

from core import clock, cursors
from core.pipeline import Rows

from . import envelopes
from .families import PAGES, Paging
from .filters import check_names
from .listing import Query
from .page_numbers import positive


def asked_limit(query: QueryDict, paging: Paging) -> int:
    """The `limit` of a list.

    :raises InvalidPage: not a positive integer.
    """
    return positive(query.get("limit"), paging.default, most=paging.most)


def asked_page(query: QueryDict) -> dict[str, int]:
    """The `page` and `limit` of a page list.

    :raises InvalidPage: one is not a positive integer.
    """
    return {"page": positive(query.get("page"), 1), "limit": asked_limit(query, PAGES)}


def page_answer(request: HttpRequest, rows: Rows, *, page: int, limit: int) -> HttpResponse:
    """The page envelope of rows that each carry the total; an empty page is one row."""
    items = [item for item in (rows.value(n, 1) for n in range(len(rows))) if item is not None]
    return _page(request, items, page=page, limit=limit, total=int(rows.value() or 0))


def open_cursor(request: HttpRequest, query: Query, tenant_id: UUID | None) -> tuple[str | None, ...] | None:
    """The position a `cursor` parameter names, or None for the first page.

    :raises InvalidCursor: altered, of another list, tenant or filter, or too old.
    """
    position = _position(request, sort=query.order.text, filters_hash=query.filters_hash, tenant_id=tenant_id)
    return (*position.values, position.id) if position else None


def cursor_answer(
    request: HttpRequest, rows: Rows, *, query: Query, limit: int, tenant_id: UUID | None
) -> HttpResponse:
    """Write the cursor envelope; a row beyond the limit proves that there is a next page."""
    shown = min(len(rows), limit)
    items = [rows.value(n) or b"null" for n in range(shown)]
    token = None
    if len(rows) > limit:
        keys = [(value or b"").decode() for value in rows.row(shown - 1)[1 : 1 + len(query.order.keys)]]
        last = cursors.Position(tuple(keys[:-1]), keys[-1], "next")
        token = _sealed(request, last, sort=query.order.text, filters_hash=query.filters_hash, tenant_id=tenant_id)
    return _cursor(request, items, token=token, limit=limit)


def open_keyset(request: HttpRequest, *, sort: str, filters: str, tenant_id: UUID) -> tuple[str, ...] | None:
    """The position a `cursor` parameter names in a list that the view reads itself; None for the first page.

    `filters` is a text that differs where the filters do.

    :raises InvalidCursor: altered, of another list, tenant or filter, or too old.
    """
    position = _position(request, sort=sort, filters_hash=filters, tenant_id=tenant_id)
    return (*(str(value) for value in position.values), position.id) if position else None


def keyset_answer(
    request: HttpRequest,
    items: Sequence[bytes],
    *,
    after: tuple[str, ...] | None,
    sort: str,
    filters: str,
    tenant_id: UUID,
    limit: int,
) -> HttpResponse:
    """Write the cursor envelope of such a list; `after` is the position of its last item, None where nothing follows."""
    token = None
    if after is not None:
        last = cursors.Position(after[:-1], after[-1], "next")
        token = _sealed(request, last, sort=sort, filters_hash=filters, tenant_id=tenant_id)
    return _cursor(request, items, token=token, limit=limit)


def items_answer(request: HttpRequest, items: Sequence[bytes], *, paging: Paging, sort: str) -> HttpResponse:
    """Answer a list that is not read from a table, sorted by `sort`; its cursors are offsets.

    :raises UnknownParameter, DuplicateParameter, InvalidPage, InvalidCursor: as for any list.
    """
    check_names(request.GET, ("limit", paging.parameter))
    if paging is PAGES:
        asked = asked_page(request.GET)
        first = (asked["page"] - 1) * asked["limit"]
        return _page(request, items[first : first + asked["limit"]], total=len(items), **asked)
    limit, position = asked_limit(request.GET, paging), _position(request, sort=sort)
    first = int(position.id) if position else 0
    token = None
    if first + limit < len(items):
        token = _sealed(request, cursors.Position((), str(first + limit)), sort=sort)
    return _cursor(request, items[first : first + limit], token=token, limit=limit)


def _page(request: HttpRequest, items: Sequence[bytes], *, page: int, limit: int, total: int) -> HttpResponse:
    """The page envelope with first, prev and next links."""
    relations = {"first": {"page": 1, "limit": limit}}
    if page > 1:
        relations["prev"] = {"page": page - 1, "limit": limit}
    if page * limit < total:
        relations["next"] = {"page": page + 1, "limit": limit}
    content = envelopes.page(list(items), page=page, limit=limit, total=total)
    return envelopes.respond(content, headers={"Link": envelopes.link(request, **relations)})


def _cursor(request: HttpRequest, items: Sequence[bytes], *, token: str | None, limit: int) -> HttpResponse:
    """The cursor envelope; `token` opens the next page, None where there is none."""
    content = envelopes.cursor(list(items), next_cursor=token, limit=limit)
    headers = {"Link": envelopes.link(request, next={"cursor": token, "limit": limit})} if token else {}
    return envelopes.respond(content, headers=headers)


def _position(
    request: HttpRequest, *, sort: str, filters_hash: str = "", tenant_id: UUID | None = None
) -> cursors.Position | None:
    text = request.GET.get("cursor")
    if text is None:
        return None
    return cursors.open(
        text, tenant_id=tenant_id, path=request.path, sort=sort, filters_hash=filters_hash, at=clock.now()
    )


def _sealed(
    request: HttpRequest,
    position: cursors.Position,
    *,
    sort: str,
    filters_hash: str = "",
    tenant_id: UUID | None = None,
) -> str:
    return cursors.seal(
        position, tenant_id=tenant_id, path=request.path, sort=sort, filters_hash=filters_hash, at=clock.now()
    )
