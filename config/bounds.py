"""The limits of requests: the size of bodies, as the operations declare them, and the time that the work may take."""

import os
from functools import cache
from typing import Any

from api.body import LIMIT_BYTES
from api.transport import MULTIPART
from api.url_areas import area_of

READ_SECONDS = float(os.environ.get("WEB_READ_SECONDS") or 5)
WRITE_SECONDS = float(os.environ.get("WEB_WRITE_SECONDS") or 10)
BUNDLE_SECONDS = float(os.environ.get("WEB_BUNDLE_SECONDS") or 30)

_SMALL_BYTES = 65_536
_BUNDLES = frozenset({"/fhir/R4", "/fhir/R4/"})


def body_limit(method: str, path: str, *, announced: str | None = None) -> int:
    """Return the maximum size in bytes of a body sent to this path; the default where no operation is addressed.

    A body announced as small is let through without a look at its operation, whose own limit the parser enforces.
    """
    if announced and announced.isdigit() and int(announced) <= _SMALL_BYTES:
        return _SMALL_BYTES
    from api.routing import find  # imports DRF, which reads settings that need the apps; the front sets them up

    match = find(path)
    return _limits(match.func).get(method.lower(), LIMIT_BYTES) if match else LIMIT_BYTES


def spooled_limit(method: str, path: str, media: str, *, announced: str | None = None) -> int:
    """Return the maximum size in bytes of a body that is kept on disk while it arrives; 0 for any other body.

    An operation that takes a form beside JSON keeps the form alone; one without a declared body keeps whatever is sent.
    """
    if announced and announced.isdigit() and int(announced) <= _SMALL_BYTES:
        return 0
    from api.routing import find

    match = find(path)
    limit, only_forms = _spooled(match.func).get(method.lower(), (0, False)) if match else (0, False)
    is_form = media.partition(";")[0].strip().lower() == MULTIPART
    return limit if is_form or not only_forms else 0


def request_seconds(method: str, path: str) -> float:
    """Return how long the work of a request may take; pages of the back-office have the time of a Bundle."""
    if method in ("GET", "HEAD", "OPTIONS"):
        return BUNDLE_SECONDS if area_of(path).pages else READ_SECONDS
    if path in _BUNDLES or area_of(path).pages:
        return BUNDLE_SECONDS
    return READ_SECONDS if path.endswith("/_search") else WRITE_SECONDS


@cache  # one entry for each route
def _limits(view: Any) -> dict[str, int]:
    operations = getattr(getattr(view, "cls", None), "operations", {})
    return {
        method: operations[action].body_limit
        for method, action in getattr(view, "actions", {}).items()
        if action in operations
    }


@cache  # one entry for each route
def _spooled(view: Any) -> dict[str, tuple[int, bool]]:
    operations = getattr(getattr(view, "cls", None), "operations", {})
    return {
        method: (operations[action].spooled_bytes, operations[action].multipart is not None)
        for method, action in getattr(view, "actions", {}).items()
        if action in operations and operations[action].spooled_bytes
    }
