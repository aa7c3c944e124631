"""Which form is asked for and sent: JSON of R4 and nothing else; `Prefer`. Source: R4 http.html#mime-type, #ops."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from django.http import HttpRequest

from api.errors import NotAcceptable, UnsupportedMediaType
from core.errors import Malformed

JSON_FHIR = "application/fhir+json; charset=utf-8"
FHIR = "application/fhir+json"
RESOURCE_TYPES = (FHIR, "application/json", "text/json")

_ACCEPTED = frozenset({*RESOURCE_TYPES, "application/*", "text/*", "*/*"})
_GENERIC = frozenset(RESOURCE_TYPES) - {FHIR}
_FORMATS = frozenset({"json", *RESOURCE_TYPES, "*/*"})
_VERSIONS = frozenset({"4.0", "4.0.1"})
_QUALITY = re.compile(r"[01](\.[0-9]{0,3})?")
_ZERO = re.compile(r"0(\.0*)?")


def check_accept(request: HttpRequest) -> None:
    """Hold `_format`, or else Accept, against what this server writes.

    :raises NotAcceptable: neither takes JSON of R4.
    """
    wanted = request.GET.get("_format") if "_format" in request.META.get("QUERY_STRING", "") else None
    if wanted:
        if not _is_format(wanted):
            raise NotAcceptable("The format is application/fhir+json.")
    elif not _accepts(request.META.get("HTTP_ACCEPT", "")):
        raise NotAcceptable("Answers are application/fhir+json.")


def answered_type(request: HttpRequest) -> str:
    """The content type of an answer: FHIR's own, or the generic one that is asked for. Source: R4 http.html#mime-type."""
    accept = request.META.get("HTTP_ACCEPT", "")
    if "_format" in request.META.get("QUERY_STRING", ""):
        accept = _spaced(request.GET.get("_format", "")) or accept
    return _answered(accept)


def check_content_type(request: HttpRequest, allowed: Iterable[str] = RESOURCE_TYPES) -> str:
    """Return the media type of the body, without parameters.

    :raises UnsupportedMediaType: none is named, or one that is not allowed here, of another FHIR version or charset.
    """
    allowed = tuple(allowed)
    media, parameters = _read(request.META.get("CONTENT_TYPE", ""))
    fits = parameters.get("fhirversion", "4.0") in _VERSIONS and parameters.get("charset", "utf-8") in ("utf-8", "utf8")
    if media not in allowed or not fits:
        raise UnsupportedMediaType(f"Send {' or '.join(allowed)} in UTF-8.")
    return media


def is_pretty(request: HttpRequest) -> bool:
    """Tell whether the answer shall have line breaks (`_pretty=true`)."""
    return "_pretty" in request.META.get("QUERY_STRING", "") and request.GET.get("_pretty") == "true"


def preferred_return(request: HttpRequest, *, otherwise: str = "representation") -> str:
    """`minimal`, `representation` or `OperationOutcome`; anything else is as if it were not sent."""
    found = _preferences(request.META.get("HTTP_PREFER", "")).get("return", "")
    return found if found in ("minimal", "OperationOutcome", "representation") else otherwise


class InvalidPrefer(Malformed):
    """`Prefer: handling=` is neither strict nor lenient."""

    code = "invalid_prefer"
    title = "The Prefer header is malformed."


def is_strict(request: HttpRequest) -> bool:
    """Tell whether unknown search parameters shall be refused (`Prefer: handling=strict`).

    :raises InvalidPrefer: neither strict nor lenient.
    """
    found = _preferences(request.META.get("HTTP_PREFER", "")).get("handling", "lenient")
    if found not in ("strict", "lenient"):
        raise InvalidPrefer("handling is strict or lenient.")
    return found == "strict"


def is_lenient(request: HttpRequest) -> bool:
    """Tell whether the client says that what is unknown may be left out; operations refuse it otherwise.

    :raises InvalidPrefer: neither strict nor lenient.
    """
    return not is_strict(request) and "handling" in _preferences(request.META.get("HTTP_PREFER", ""))


def is_async(request: HttpRequest) -> bool:
    """Tell whether the client agrees to an answer that only says where the result will be (`Prefer: respond-async`)."""
    return "respond-async" in _preferences(request.META.get("HTTP_PREFER", ""))


def takes_gzip(request: HttpRequest) -> bool:
    """Tell whether the client takes an answer that is packed. Source: RFC 9110 section 12.5.3."""
    ranges = dict(_ranges(request.META.get("HTTP_ACCEPT_ENCODING", "")))
    found = ranges.get("gzip", ranges.get("*"))
    return found is not None and not _ZERO.fullmatch(found.get("q", "1"))


@lru_cache(maxsize=256)
def _preferences(header: str) -> dict[str, str]:
    parts = (part.strip().partition("=") for part in header.replace(";", ",").split(","))
    return {name.strip().lower(): value.strip().strip('"') for name, _, value in parts}


@lru_cache(maxsize=256)
def _accepts(header: str) -> bool:
    if not header.strip():
        return True
    return any(_fits(media, parameters) for media, parameters in _ranges(header))


@lru_cache(maxsize=256)
def _answered(header: str) -> str:
    """The type that is wanted most; of equals FHIR's own before a generic one, and a named one before a range."""
    ranked = [
        (_quality(found), media in RESOURCE_TYPES, media == FHIR, media)
        for media, found in _ranges(header)
        if _fits(media, found)
    ]
    wanted = max(ranked, default=None)
    return f"{wanted[3]}; charset=utf-8" if wanted and wanted[3] in _GENERIC else JSON_FHIR


def _quality(parameters: dict[str, str]) -> float:
    """How much a media type is wanted, in thousandths as RFC 9110 writes it; what is no number counts as not said."""
    found = parameters.get("q", "1")
    return float(found) if _QUALITY.fullmatch(found) else 1.0


def _ranges(header: str) -> Iterator[tuple[str, dict[str, str]]]:
    return (_read(part) for part in header.split(",") if part.strip())


def _fits(media: str, parameters: dict[str, str]) -> bool:
    wanted = media in _ACCEPTED and parameters.get("fhirversion", "4.0") in _VERSIONS
    return wanted and not _ZERO.fullmatch(parameters.get("q", "1"))


def _spaced(text: str) -> str:
    """A format as it was meant: an unescaped plus sign is a space in a query."""
    return text.replace(" json", "+json")


@lru_cache(maxsize=64)
def _is_format(text: str) -> bool:
    media, parameters = _read(_spaced(text))
    return media in _FORMATS and parameters.get("fhirversion", "4.0") in _VERSIONS


@lru_cache(maxsize=256)
def _read(text: str) -> tuple[str, dict[str, str]]:
    """A media type in lower case and its parameters, also in lower case and without quotes."""
    media, *parts = text.lower().split(";")
    pairs = (part.partition("=") for part in parts)
    return media.strip(), {name.strip(): value.strip().strip('"') for name, _, value in pairs}
