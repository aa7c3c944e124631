"""The size limits of request bodies, as the operations declare them; the front and the parser both enforce them."""

from functools import cache
from typing import Any

from api.body import LIMIT_BYTES

_SMALL_BYTES = 65_536


def body_limit(method: str, path: str, *, announced: str | None = None) -> int:
    """Return the maximum size in bytes of a body sent to this path; the default where no operation is addressed.

    A body announced as small is let through without a look at its operation, whose own limit the parser enforces.
    """
    if announced and announced.isdigit() and int(announced) <= _SMALL_BYTES:
        return _SMALL_BYTES
    from api.routing import find  # imports DRF, which reads settings that need the apps; the front sets them up

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
