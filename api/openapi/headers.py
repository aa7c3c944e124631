"""Headers of answers, each a component of the document."""

from collections.abc import Iterable

from .components import Components, Schema

ALWAYS = ("X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy")

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_HEADERS: dict[str, tuple[str, Schema]] = {
    "X-Request-Id": ("The id that the request sent, or else one from the platform.", _TEXT),
    "RateLimit-Limit": ("Requests that the tightest policy allows in its window.", _COUNT),
    "RateLimit-Remaining": ("Requests left in that window.", _COUNT),
    "RateLimit-Reset": ("Seconds from now until another request is allowed.", _COUNT),
    "RateLimit-Policy": ("Limit and window of the policy: `600;w=60`.", _TEXT),
    "ETag": ("The version, for If-Match and If-None-Match.", _TEXT),
    "Location": ("Where the resource can be read.", {"type": "string", "format": "uri-reference"}),
    "Link": ("Other pages: `next`; for page lists also `first` and `prev`. Source: RFC 8288.", _TEXT),
    "Retry-After": ("Seconds to wait before repeating the request.", _COUNT),
    "WWW-Authenticate": ("How to authenticate.", _TEXT),
    "Idempotency-Replayed": ("`true` if the answer is that of an earlier request with the same key.", _TEXT),
}


def headers(names: Iterable[str], components: Components) -> dict[str, Schema]:
    """Return references to the headers of an answer, by name."""
    return {name: components.header(name, _header(name)) for name in names}


def _header(name: str) -> Schema:
    text, schema = _HEADERS[name]
    return {"description": text, "schema": schema}
