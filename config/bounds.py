"""How many bytes a request body may have: what the operation at its address declares, which its parser holds too."""

from functools import cache
from typing import Any

from api.body import LIMIT_BYTES
from api.routing import find


def body_limit(method: str, path: str) -> int:
    """The most bytes that a body sent to this path may have; what is no operation of the API takes the usual bound."""
    match = find(path)
    return _limits(match.func).get(method.lower(), LIMIT_BYTES) if match else LIMIT_BYTES


@cache  # one entry a route
def _limits(view: Any) -> dict[str, int]:
    operations = getattr(getattr(view, "cls", None), "operations", {})
    return {
        method: operations[action].body_limit
        for method, action in getattr(view, "actions", {}).items()
        if action in operations
    }
