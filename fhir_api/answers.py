"""Answers of the FHIR interface: bytes of resources with R4's headers. Source: R4 http.html#versioning, #ops."""

from calendar import timegm
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.http import http_date

from core.errors import Gone
from core.pipeline import Rows

from .intentions import Written
from .negotiation import JSON_FHIR, answered_type, is_pretty, preferred_return
from .outcomes import INFORMATION, Issue, outcome
from .parts import Part
from .preconditions import is_unchanged
from .reading import read_stored
from .resources import Json, pretty, written
from .store import NoSuchResource, Version


def respond(
    content: bytes, media: str = JSON_FHIR, *, status: int = 200, headers: dict[str, str] | None = None
) -> HttpResponse:
    """An answer of bytes that are FHIR's JSON already; one without content has no type."""
    response = HttpResponse(content, status=status, content_type=media)
    if not content:
        del response.headers["Content-Type"]
    for name, value in (headers or {}).items():
        response.headers[name] = value
    return response


def of_resource(
    request: HttpRequest, resource: Json, *, status: int = 200, headers: dict[str, str] | None = None
) -> HttpResponse:
    """An answer that is made here: an OperationOutcome, a CapabilityStatement."""
    content = pretty(resource) if is_pretty(request) else written(resource)
    return respond(content, answered_type(request), status=status, headers=headers)


def of_bytes(request: HttpRequest, content: bytes, headers: dict[str, str] | None = None) -> HttpResponse:
    """An answer of a resource's bytes, or of a Bundle's."""
    shown = pretty(read_stored(content)) if is_pretty(request) else content
    return respond(shown, answered_type(request), headers=headers)


def of_version(request: HttpRequest, rows: Rows, *, part: Part = None) -> HttpResponse:
    """The answer to a read: one row of version, seconds of its time, body, of which perhaps only a part is wanted.

    :raises NoSuchResource: there is no row.
    :raises Gone: the version is a deletion.
    """
    if not len(rows):
        raise NoSuchResource
    version, seconds, body = rows.row()
    modified = int(seconds or 0)
    headers = {"ETag": f'W/"{(version or b"").decode()}"', "Last-Modified": _last_modified(modified)}
    if body is None:
        raise Gone(headers=headers)
    if is_unchanged(request, tag=headers["ETag"], modified_seconds=modified):
        return respond(b"", status=304, headers=headers)
    return of_bytes(request, part(body) if part else body, headers)


def of_write(request: HttpRequest, result: Written, *, shown: bool = True) -> HttpResponse:
    """The answer to a write, as much of it as `Prefer: return` asks for; `shown` False keeps the resource back."""
    version, wanted = result.version, preferred_return(request)
    headers = headers_of(version) if version else {}
    if version is not None and version.body is not None:
        headers["Location"] = location(version)
    if wanted == "OperationOutcome":
        issue = Issue("informational", _told(result), severity=INFORMATION)
        found = outcome([issue, *result.warnings], request_id=getattr(request, "request_id", ""))
        return of_resource(request, found, status=200 if result.status == 204 else result.status, headers=headers)
    if version is None or version.body is None or wanted == "minimal" or not shown:
        return respond(b"", status=result.status, headers=headers)
    answer = of_bytes(request, version.body, headers)
    answer.status_code = result.status
    return answer


def headers_of(version: Version) -> dict[str, str]:
    """ETag and Last-Modified of a version."""
    return {"ETag": version.etag, "Last-Modified": _last_modified(timegm(version.last_updated.utctimetuple()))}


@lru_cache(maxsize=4096)
def _last_modified(seconds: int) -> str:
    """HTTP's form of a time; to form it anew for each answer took 4 in a hundred of a read."""
    return http_date(seconds)


def location(version: Version) -> str:
    """The address of a version. Source: R4 http.html#create."""
    return f"{settings.FHIR_BASE_URL}/{version.type}/{version.fhir_id}/_history/{version.version}"


def _told(result: Written) -> str:
    if not result.changed:
        return "Nothing had to be changed."
    if len(result.ended) > 1:
        return f"Deleted {len(result.ended)} resources."
    return {201: "Created.", 204: "Deleted."}.get(result.status, "Updated.")
