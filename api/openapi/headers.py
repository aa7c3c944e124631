"""Headers of answers, each a component."""

from collections.abc import Iterable

from .components import Components, Schema

ALWAYS = ("X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy")

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_HEADERS: dict[str, tuple[str, Schema]] = {
    "X-Request-Id": ("The request's own id, or the one the platform gave it.", _TEXT),
    "RateLimit-Limit": ("Requests that the tightest policy allows in its window.", _COUNT),
    "RateLimit-Remaining": ("Requests left in that window.", _COUNT),
    "RateLimit-Reset": ("Seconds from now until a request is free again.", _COUNT),
    "RateLimit-Policy": ("Limit and window of the policy: `600;w=60`.", _TEXT),
    "ETag": ("The version, for If-Match and If-None-Match.", _TEXT),
    "Location": ("Where the resource can be read.", {"type": "string", "format": "uri-reference"}),
    "Link": ("Further pages: `next`, of page lists `first` and `prev` too. Source: RFC 8288.", _TEXT),
    "Retry-After": ("Seconds to wait before the request is worth repeating.", _COUNT),
    "WWW-Authenticate": ("How to authenticate.", _TEXT),
    "Idempotency-Replayed": ("`true` where the answer is that of an earlier request with the same key.", _TEXT),
}


def headers(names: Iterable[str], components: Components) -> dict[str, Schema]:
    """References to the headers of an answer, by name."""
    return {name: components.header(name, _header(name)) for name in names}


def _header(name: str) -> Schema:
    text, schema = _HEADERS[name]
    return {"description": text, "schema": schema}
