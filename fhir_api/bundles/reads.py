"""Reads inside of a Bundle: the entry's URL is answered by the view that answers it outside, for the same caller.

Operations are reads too: those with GET by their URL alone, those in `entries.ASKING` with the entry's resource as body.
"""

from datetime import datetime
from typing import Final

import orjson
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import resolve
from django.utils.http import http_date

from api.errors import STATUS
from api.metering import COUNTED
from core.errors import Malformed, NotFound
from fhir_api.instants import InvalidTime, read_instant
from fhir_api.negotiation import FHIR
from fhir_api.resources import written

from .answers import Answer, of_refusal
from .entries import Entry
from .refusals import UnsupportedEntry

ROOT: Final = "/fhir/R4"
_FORBIDDEN: Final = ("$export", "metadata", ".well-known")
_DROPPED: Final = ("CONTENT_TYPE", "CONTENT_LENGTH", "HTTP_PREFER", "HTTP_IDEMPOTENCY_KEY", "HTTP_ACCEPT")


def check(entry: Entry) -> None:
    """Refuse what is not a read of resources.

    :raises UnsupportedEntry: jobs and documents about the server.
    """
    if any(part in _FORBIDDEN for part in entry.path.partition("?")[0].split("/")):
        raise UnsupportedEntry(
            "A Bundle does not hold this operation.",
            expression=f"{entry.place}.request.url",
            issue_type="not-supported",
        )


def inner_request(entry: Entry, outer: HttpRequest) -> HttpRequest:
    """The entry as a request of its own, with the credential of the Bundle's."""
    path, _, query = entry.path.partition("?")
    request = HttpRequest()
    request.META = {
        name: value
        for name, value in outer.META.items()
        if name not in _DROPPED and not name.startswith(("HTTP_IF_", "wsgi."))
    }
    request.META.update(PATH_INFO=f"{ROOT}/{path}", QUERY_STRING=query, REQUEST_METHOD=entry.method)
    request.META.update(_conditions(entry))
    request.META[COUNTED] = True
    request.method = entry.method
    request.path = request.path_info = f"{ROOT}/{path}"
    request.GET = QueryDict(query)
    body = written(entry.resource) if entry.method == "POST" and entry.resource is not None else b""
    request._body = body  # as if it had been read
    request.META.update(CONTENT_TYPE=FHIR if entry.method == "POST" else "", CONTENT_LENGTH=str(len(body)))
    for name in ("request_id", "client_address", "credential", "told"):
        if hasattr(outer, name):
            setattr(request, name, getattr(outer, name))
    return request


def _conditions(entry: Entry) -> dict[str, str]:
    found: dict[str, str] = {}
    if "ifNoneMatch" in entry.request:
        found["HTTP_IF_NONE_MATCH"] = entry.request["ifNoneMatch"]
    if "ifModifiedSince" in entry.request:
        found["HTTP_IF_MODIFIED_SINCE"] = http_date(_modified_since(entry).timestamp())
    return found


def _modified_since(entry: Entry) -> datetime:
    try:
        return read_instant(entry.request["ifModifiedSince"], name="ifModifiedSince")
    except InvalidTime as refusal:
        refusal.extra["expression"] = f"{entry.place}.request.ifModifiedSince"
        raise


def answer_of(entry: Entry, outer: HttpRequest) -> Answer:
    """The answer of the view that the URL leads to; a refusal is an answer too."""
    request = inner_request(entry, outer)
    try:
        match = resolve(request.path_info)
    except Http404:
        return of_refusal(NotFound("There is no such address."))
    request.resolver_match = match
    response: HttpResponse = match.func(request, *match.args, **match.kwargs)
    return _answer(entry, response)


def _answer(entry: Entry, response: HttpResponse) -> Answer:
    content = response.content if response.content and entry.method != "HEAD" else None
    refused = response.status_code >= 400
    return Answer(
        status=response.status_code,
        location=response.headers.get("Location", ""),
        etag=response.headers.get("ETag", ""),
        last_modified=_last_modified(response),
        resource=None if refused else content,
        outcome=orjson.loads(response.content) if refused and response.content else None,
    )


def _last_modified(response: HttpResponse) -> str:
    """When the resource was changed, as it says itself: the header holds whole seconds, which are earlier."""
    if response.status_code != 200 or "Last-Modified" not in response.headers:
        return ""
    return str(orjson.loads(response.content)["meta"]["lastUpdated"])


def check_answered(entry: Entry, answer: Answer) -> None:
    """Let a transaction fail with a read that failed.

    :raises core.errors.PlatformError: of the read's own status.
    """
    if answer.status < 400:
        return
    kind = next((kind for kind, status in STATUS if status == answer.status), Malformed)
    issues = (answer.outcome or {}).get("issue") or [{}]
    raise kind(issues[0].get("diagnostics", ""), expression=entry.place, issue_type=issues[0].get("code", "processing"))
