"""References: which resource of this server one means, and what is left to compare where it means none."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from django.conf import settings

LOCAL: Final = re.compile(r"([A-Z][A-Za-z]{2,63})/([A-Za-z0-9\-.]{1,64})(?:/_history/[A-Za-z0-9\-.]{1,64})?")
_LAST: Final = re.compile(r".*/([A-Z][A-Za-z]{2,63})/[A-Za-z0-9\-.]{1,64}(?:/_history/[A-Za-z0-9\-.]{1,64})?")
_VERSION: Final = re.compile(r"/_history/[A-Za-z0-9\-.]{1,64}$")


def target(reference: str) -> tuple[str, str] | None:
    """Type and id of the resource of this server that is meant: `Type/id`, also with its version, also absolute.

    None for what lies elsewhere (`unversioned`), for `#contained` and for what is no reference to a resource.
    """
    return _target(reference, settings.FHIR_BASE_URL if ":" in reference else "")  # most are relative


def texts_at(value: Any, path: Sequence[str]) -> Iterator[str]:
    """Yield the texts of the references at a path of elements, lists walked; what is not of that form has none."""
    if isinstance(value, list):
        for one in value:
            yield from texts_at(one, path)
    elif isinstance(value, dict):
        if path:
            yield from texts_at(value.get(path[0]), path[1:])
        elif isinstance(text := value.get("reference"), str):
            yield text


def unversioned(reference: str) -> str:
    """A reference to another server as it is compared: without the version."""
    return _VERSION.sub("", reference)


@lru_cache(maxsize=4096)
def type_of(reference: str) -> str:
    """The type a reference's text tells, here or on another server; empty if it tells none (`urn:…`, `#…`)."""
    match = LOCAL.fullmatch(reference) or _LAST.fullmatch(reference)
    return match[1] if match else ""


@lru_cache(maxsize=4096)
def _target(reference: str, base: str) -> tuple[str, str] | None:
    match = LOCAL.fullmatch(reference.removeprefix(base.rstrip("/") + "/"))
    return (match[1], match[2]) if match else None
