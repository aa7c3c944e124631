"""If-Match, If-None-Match and If-Modified-Since of FHIR, whose tags are weak. Source: R4 http.html#concurrency, #cread."""

import re
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.http import parse_http_date_safe

from api.preconditions import InvalidPrecondition

from .store.reads import number_of

_TAG = re.compile(r'(?:W/)?"([0-9]{1,9})"|([0-9]{1,9})')


@dataclass(frozen=True, slots=True)
class Preconditions:
    """What a write demands of the current version; see `intentions.Write`."""

    if_match: tuple[int, ...] = ()
    must_exist: bool = False
    create_only: bool = False


def read(request: HttpRequest) -> Preconditions:
    """Read the preconditions of a write.

    :raises InvalidPrecondition: If-Match is no list of versions, or If-None-Match anything but `*`.
    """
    return stated(request.META.get("HTTP_IF_MATCH"), request.META.get("HTTP_IF_NONE_MATCH"))


def stated(match: str | None, none_match: str | None) -> Preconditions:
    """The same of the texts themselves, which in a Bundle stand in an entry's request; None where there is none.

    :raises InvalidPrecondition: as `read`.
    """
    if none_match is not None and none_match.strip() != "*":
        raise InvalidPrecondition("If-None-Match of a write is *.")
    if match is None:
        return Preconditions(create_only=none_match is not None)
    if match.strip() == "*":
        return Preconditions(must_exist=True, create_only=none_match is not None)
    return Preconditions(if_match=_versions(match), create_only=none_match is not None)


def _versions(header: str) -> tuple[int, ...]:
    """The versions that an If-Match lists: `W/"3"`, `"3"` or a bare 3.

    :raises InvalidPrecondition: one is none of these.
    """
    found = []
    for part in header.split(","):
        match = _TAG.fullmatch(part.strip())
        if match is None:
            raise InvalidPrecondition('If-Match holds versions: W/"3".')
        found.append(number_of(match[1] or match[2]))
    return tuple(found)


def is_unchanged(request: HttpRequest, *, tag: str, modified_seconds: int) -> bool:
    """Tell whether 304 answers a read; If-None-Match goes before If-Modified-Since. Source: RFC 9110 section 13.2.2."""
    meta = request.META
    if none_match := meta.get("HTTP_IF_NONE_MATCH"):
        bare = tag.removeprefix("W/")
        return none_match.strip() == "*" or bare in {part.strip().removeprefix("W/") for part in none_match.split(",")}
    since = meta.get("HTTP_IF_MODIFIED_SINCE")
    if not since:
        return False
    seconds = parse_http_date_safe(since)
    return seconds is not None and modified_seconds <= seconds
