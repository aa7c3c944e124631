"""ETag, If-None-Match, If-Match. Source: RFC 9110 section 13; contract: REST answers a mismatch with 409."""

import hashlib
from typing import Any

from django.http import HttpRequest

from core.errors import Malformed, VersionConflict

from .shapes import Selection


class InvalidPrecondition(Malformed):
    """If-Match is not a list of entity tags."""

    code = "invalid_precondition"
    title = "If-Match is malformed."


def etag(version: str, selection: Selection) -> str:
    """A strong tag: the version; a selection of fields or includes adds a hash of itself."""
    tag = selection.tag()
    return f'"{version};{hashlib.sha256(tag.encode()).hexdigest()[:12]}"' if tag else f'"{version}"'


def content_etag(content: bytes) -> str:
    """A strong tag of bytes, for answers that have no version."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def matches_none(request: HttpRequest, tag: str) -> bool:
    """Tell whether If-None-Match names this tag, so that 304 is the answer (weak comparison)."""
    header = request.META.get("HTTP_IF_NONE_MATCH")
    if not header:
        return False
    return header.strip() == "*" or tag in {part.strip().removeprefix("W/") for part in header.split(",")}


def check_version(request: HttpRequest, target: Any, body_version: int | None = None) -> None:
    """Hold If-Match, or the body's `version`, against the locked row.

    :raises VersionConflict: it was changed since; `current_version` and the current ETag are named.
    :raises InvalidPrecondition: not a list of quoted tags.
    """
    version = getattr(target, "version", None)
    if version is None:
        return
    header = request.META.get("HTTP_IF_MATCH")
    if header is not None and header.strip() != "*" and str(version) not in _versions(header):
        _conflict(version)
    if body_version is not None and body_version != version:
        _conflict(version)


def _conflict(version: int) -> None:
    raise VersionConflict(
        f"The resource stands at version {version}.", current_version=version, headers={"ETag": f'"{version}"'}
    )


def _versions(header: str) -> set[str]:
    """The versions of the strong tags in the header; weak tags never match."""
    found = set()
    for part in (piece.strip() for piece in header.split(",")):
        bare = part.removeprefix("W/")
        if len(bare) < 2 or bare[0] != '"' or bare[-1] != '"':
            raise InvalidPrecondition("If-Match holds quoted entity tags.")
        if bare == part:
            found.add(bare[1:-1].partition(";")[0])
    return found
