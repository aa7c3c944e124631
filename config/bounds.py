"""The size limits of request bodies, as the operations declare them; the front and the parser both enforce them."""

from functools import cache
from typing import Any

from api.body import LIMIT_BYTES
from api.routing import find


def body_limit(method: str, path: str) -> int:
    """Return the maximum size in bytes of a body sent to this path; the default where no operation is addressed."""
    match = find(path)
    return _limits(match.func).get(method.lower(), LIMIT_BYTES) if match else LIMIT_BYTES


@cache  # one entry for each route
def _limits(view: Any) -> dict[str, int]:
    operations = getattr(getattr(view, "cls", None), "operations", {})
    return {
        method: operations[action].body_limit
        for method, action in getattr(view, "actions", {}).items()
        if action in operations
    }
