"""ETag, If-None-Match and If-Match. Source: RFC 9110 section 13; by the contract, REST answers a mismatch with 409."""

import hashlib
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from core.errors import Duplicate, FieldError, InvalidFields, Malformed, VersionConflict

from .shapes import Selection, Shape


class InvalidPrecondition(Malformed):
    """If-Match is not a list of entity tags."""

    code = "invalid_precondition"
    title = "If-Match is malformed."


def etag(version: str, selection: Selection) -> str:
    """Write a strong tag: the version, and a hash of the selection of fields if there is one."""
    tag = selection.tag()
    return f'"{version};{_short(tag.encode())}"' if tag else f'"{version}"'


def tag_of(shape: Shape, selection: Selection, content: bytes | None, version: bytes | None) -> str:
    """Write the strong tag of a row's answer; empty for a representation without a version.

    With `include` the tag holds a hash of the content, because included members change without a new version.
    """
    if not shape.version:
        return ""
    found = (version or b"").decode()
    return f'"{found};{_short(content or b"")}"' if selection.includes else etag(found, selection)


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def content_etag(content: bytes, version: str = "") -> str:
    """Write a strong tag of bytes, behind the version of the row that they tell of, if there is one."""
    return f'"{version};{_short(content)}"' if version else f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def matches_none(request: HttpRequest, tag: str) -> bool:
    """Tell whether If-None-Match names this tag, so that 304 is the answer (weak comparison)."""
    header = request.META.get("HTTP_IF_NONE_MATCH")
    if not header:
        return False
    return header.strip() == "*" or tag in {part.strip().removeprefix("W/") for part in header.split(",")}


def check_version(request: HttpRequest, target: Any, body_version: int | None = None) -> None:
    """Compare If-Match, or the body's `version`, with the locked row.

    :raises VersionConflict: the row has changed; the refusal has `current_version` and the current ETag.
    :raises InvalidPrecondition: If-Match is not a list of quoted tags.
    """
    header = request.META.get("HTTP_IF_MATCH")
    if header is None and body_version is None:
        return  # nobody asks, so a target that is locked later on is not looked at
    version = getattr(target, "version", None)
    if version is None:
        return
    if header is not None and header.strip() != "*" and str(version) not in _versions(header):
        _conflict(version)
    if body_version is not None and body_version != version:
        _conflict(version)


def check_upsert(request: HttpRequest, target: Any, body_version: int | None = None) -> None:
    """Check the preconditions of a PUT under a code that the client has chosen; `target` is None if the code is free.

    :raises Duplicate: `If-None-Match: *` was sent, but the code is taken.
    :raises VersionConflict: If-Match or a `version` was sent, but the code is free; `current_version` is null.
    """
    if target is not None and request.META.get("HTTP_IF_NONE_MATCH", "").strip() == "*":
        raise Duplicate("The code is taken.")
    if target is None:
        _check_nothing_asked(request, body_version)


def check_found(request: HttpRequest, target: Any, body_version: int | None = None) -> None:
    """Check the preconditions of a POST that replaces what its body names; `target` is None if there is none yet.

    :raises VersionConflict: as `check_version`; without a target `current_version` is null.
    :raises InvalidPrecondition: as `check_version`.
    """
    if target is None:
        _check_nothing_asked(request, body_version)
    check_version(request, target, body_version)


@dataclass(slots=True)
class LateCheck:
    """Holds a row that an action finds by itself to the preconditions; `done` tells whether a row was compared at all."""

    request: HttpRequest
    version: int | None
    done: bool

    def check(self, target: Any) -> None:
        """Check a row, or None if there is none yet.

        :raises VersionConflict, InvalidPrecondition: as `check_found`.
        """
        self.done = True
        check_found(self.request, target, self.version)

    def refuse_version(self) -> None:
        """Refuse a version that was compared with nothing: what is made has none yet.

        :raises InvalidFields: names it.
        """
        if self.version is not None and not self.done:
            raise InvalidFields(errors=[FieldError("version", "unknown_field", "What is made has no version yet.")])


def _check_nothing_asked(request: HttpRequest, body_version: int | None) -> None:
    if "HTTP_IF_MATCH" in request.META or body_version is not None:
        raise VersionConflict("There is no such resource.", current_version=None)


def _conflict(version: int) -> None:
    raise VersionConflict(
        f"The resource is at version {version}.", current_version=version, headers={"ETag": f'"{version}"'}
    )


def _versions(header: str) -> set[str]:
    """The versions of the strong tags in the header; weak tags never match."""
    found = set()
    for part in (piece.strip() for piece in header.split(",")):
        bare = part.removeprefix("W/")
        if len(bare) < 2 or bare[0] != '"' or bare[-1] != '"':
            raise InvalidPrecondition("If-Match must be a list of quoted entity tags.")
        if bare == part:
            found.add(bare[1:-1].partition(";")[0])
    return found
