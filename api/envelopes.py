"""Envelopes of answers, as bytes around the JSON that PostgreSQL wrote, and Link headers."""

from typing import Any
from urllib.parse import quote_plus, urlencode

import orjson
from django.http import HttpRequest, HttpResponse

JSON = "application/json"


def one(content: bytes, *, supplier: bool) -> bytes:
    """Put a single object into its envelope."""
    return b'{"success":true,"data":' + content + b"}" if supplier else b'{"data":' + content + b"}"


def page(items: list[bytes], *, page: int, limit: int, total: int) -> bytes:
    """Write a page list."""
    return b'{"success":true,"data":{"items":[%b],"page":%d,"limit":%d,"total":%d}}' % (
        b",".join(items), page, limit, total,
    )  # fmt: skip


def cursor(items: list[bytes], *, next_cursor: str | None, limit: int) -> bytes:
    """Write a cursor list."""
    shown = orjson.dumps(next_cursor)
    more = b"true" if next_cursor else b"false"
    return b'{"data":[%b],"next_cursor":%b,"has_more":%b,"limit":%d}' % (b",".join(items), shown, more, limit)


def respond(content: bytes, *, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    """Make an answer of JSON bytes; a 204 has no body."""
    response = HttpResponse(content if status != 204 else b"", status=status, content_type=JSON)
    if status == 204:
        del response.headers["Content-Type"]
    for name, value in (headers or {}).items():
        response.headers[name] = value
    return response


def link(request: HttpRequest, **relations: dict[str, Any]) -> str:
    """Write a Link header: the request's own query with some parameters changed. Source: RFC 8288."""
    parts = []
    for relation, changes in relations.items():
        kept = urlencode([(name, request.GET[name]) for name in request.GET if name not in changes])
        changed = "&".join(f"{name}={quote_plus(str(value))}" for name, value in changes.items())
        parts.append(f'<{request.path}?{kept}{"&" if kept else ""}{changed}>; rel="{relation}"')
    return ", ".join(parts)
