"""Compression of answers, where nobody can learn a secret from their length.

BREACH guesses a secret by the length of answers that hold it beside what the guesser chose, asked for with the credential
that a victim's browser adds by itself. So nothing is compressed that a cookie asks for (the admin, sign-in, consent), nor
any address of tokens, keys and their like. Source: https://breachattack.com, RFC 9110 sections 8.4 and 12.5.3.
"""

import gzip
import re
import threading
from collections.abc import Callable
from functools import lru_cache

import brotli
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from api.url_areas import API, DOCS, FHIR, STATIC, area_of

SMALLEST_BYTES = 1_400  # what one packet carries anyway
_DOCUMENTS = frozenset({"/v1/openapi.json"})
# Words of addresses whose answers may hold something that lets its reader in.
_SECRET = re.compile(
    r"auth|token|key|secret|sign-?in|session|password|invitation|factor|credential|client|totp|recovery|/files"
)
_TYPES = re.compile(r"text/|image/svg|application/(?:[\w.]+\+)?(?:json|ndjson|javascript|xml)|application/x-ndjson")
_QUALITY = re.compile(r";\s*q=([01](?:\.\d{0,3})?)\s*$")
_KEPT = 64

Handler = Callable[[HttpRequest], HttpResponseBase]


class Compression:
    """Django middleware around all others. Answers of the API are pressed lightly, files and the API document once."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self._kept: dict[tuple[str, str, str], bytes] = {}
        self._keeping = threading.Lock()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        accepted = request.META.get("HTTP_ACCEPT_ENCODING")
        if not accepted or request.method != "GET":
            return self.get_response(request)
        coding = preferred(accepted)
        path = request.path_info
        if coding is None or not is_safe(path):
            return self.get_response(request)
        keep = is_file(path)
        if keep:  # tags of pressed files are weak; the file's own is what its server compares
            tag = request.META.get("HTTP_IF_NONE_MATCH", "")
            request.META["HTTP_IF_NONE_MATCH"] = tag.removeprefix("W/")
        response = self.get_response(request)
        if response.status_code != 200 or not _may_be_pressed(response, keep=keep):
            return response
        return self._pressed_file(response, path, coding) if keep else _pressed(response, coding)

    def _pressed_file(self, response: HttpResponseBase, path: str, coding: str) -> HttpResponseBase:
        tag = response.headers.get("ETag", "") or response.headers.get("Last-Modified", "")
        place = (path, tag, coding)
        found = self._kept.get(place) if tag else None
        if found is None:
            content = b"".join(response)
            found = brotli.compress(content, quality=5) if coding == "br" else gzip.compress(content, 6, mtime=0)
            with self._keeping:
                if len(self._kept) >= _KEPT:
                    self._kept.clear()
                self._kept[place] = found
        answer = HttpResponse(found, headers={**response.headers})
        answer._resource_closers.append(response.close)  # type: ignore[attr-defined]
        return _described(answer, coding)


def preferred(accepted: str) -> str | None:
    """Return `br` or `gzip`, whichever an Accept-Encoding header likes better; None if neither."""
    return _preferred(accepted) if len(accepted) <= 200 else None


@lru_cache(maxsize=256)
def _preferred(accepted: str) -> str | None:
    liked: dict[str, float] = {}
    for word in accepted.lower().split(","):
        name, quality = word.partition(";")[0].strip(), _QUALITY.search(word)
        liked[name] = float(quality[1]) if quality else 0.0 if ";" in word else 1.0
    others = liked.get("*", 0.0)
    best, coding = max((liked.get(name, others), name == "br", name) for name in ("br", "gzip"))[::2]
    return coding if best > 0 and best >= liked.get("identity", 0.0) else None


def is_file(path: str) -> bool:
    """Tell whether an address answers everybody with the same bytes."""
    return path in _DOCUMENTS or area_of(path) in (DOCS, STATIC)


def is_safe(path: str) -> bool:
    """Tell whether answers of an address may be compressed."""
    return is_file(path) or (area_of(path) in (API, FHIR) and not _SECRET.search(path))


def _may_be_pressed(response: HttpResponseBase, *, keep: bool) -> bool:
    """Tell whether an answer is text, whole, without a cookie; a strong tag would name two bodies, but for files."""
    headers = response.headers
    if response.cookies or "Content-Encoding" in headers or not _TYPES.match(headers.get("Content-Type", "")):
        return False
    if keep:
        return True
    if response.streaming or headers.get("ETag", "W/")[:2] != "W/":
        return False
    return len(response.content) >= SMALLEST_BYTES  # type: ignore[attr-defined]


def _pressed(response: HttpResponseBase, coding: str) -> HttpResponseBase:
    assert isinstance(response, HttpResponse)
    content = response.content
    response.content = brotli.compress(content, quality=3) if coding == "br" else gzip.compress(content, 2, mtime=0)
    return _described(response, coding)


def _described(response: HttpResponse, coding: str) -> HttpResponse:
    headers = response.headers
    headers["Content-Encoding"] = coding
    vary = headers.get("Vary")
    headers["Vary"] = f"{vary}, Accept-Encoding" if vary else "Accept-Encoding"
    if "Content-Length" in headers:
        headers["Content-Length"] = str(len(response.content))
    tag = headers.get("ETag", "W/")
    if not tag.startswith("W/"):
        headers["ETag"] = f"W/{tag}"
    return response
