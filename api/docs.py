"""The OpenAPI document and the pages that show it; the platform serves all their scripts itself."""

import functools
import threading
from pathlib import Path

import orjson
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularSwaggerSplitView

from core.canonical import sha256_hex

from .openapi import reading

# drf-spectacular loads its extensions when they are first used, and two threads would do so at once.
_building = threading.Lock()


def document() -> dict[str, object]:
    """Build the OpenAPI 3.1 document from the routes."""
    with _building:
        found: dict[str, object] = SchemaGenerator().get_schema(request=None, public=True)
    return found


@functools.lru_cache(maxsize=1)
def _encoded() -> tuple[bytes, str]:
    return _with_tag(document())


@functools.lru_cache(maxsize=1)
def _encoded_for_reading() -> tuple[bytes, str]:
    return _with_tag(reading.readable(orjson.loads(_encoded()[0])))


def _with_tag(found: dict[str, object]) -> tuple[bytes, str]:
    content = orjson.dumps(found, default=str)
    return content, f'"{sha256_hex(content)[:32]}"'


def build() -> None:
    """Build the documents now, a second's work that the first reader of `/docs` would wait for."""
    _encoded_for_reading()


def openapi(request: HttpRequest) -> HttpResponse:
    """Answer `GET /v1/openapi.json`."""
    return _document(request, *_encoded())


def openapi_for_reading(request: HttpRequest) -> HttpResponse:
    """Answer `GET /docs/openapi.json`, what the page `/docs` shows."""
    return _document(request, *_encoded_for_reading())


def _document(request: HttpRequest, content: bytes, tag: str) -> HttpResponse:
    if request.headers.get("If-None-Match") == tag:
        return HttpResponse(status=304, headers={"ETag": tag})
    return HttpResponse(
        content, content_type="application/json", headers={"ETag": tag, "Cache-Control": "public, max-age=300"}
    )


def redoc(request: HttpRequest) -> HttpResponse:
    """Answer `GET /docs/redoc`."""
    return HttpResponse(_REDOC_PAGE, content_type="text/html; charset=utf-8")


def redoc_script(request: HttpRequest) -> HttpResponse:
    """Answer `GET /docs/redoc.js`: the bundled script, without the logo that it would fetch from its maker."""
    return HttpResponse(
        _redoc_bundle(),
        content_type="text/javascript; charset=utf-8",
        headers={"Cache-Control": "public, max-age=86400"},
    )


@functools.lru_cache(maxsize=1)
def _redoc_bundle() -> bytes:
    path = finders.find("drf_spectacular_sidecar/redoc/bundles/redoc.standalone.js")
    return Path(str(path)).read_bytes().replace(b"https://cdn.redoc.ly/redoc/logo-mini.svg", b"data:,")


_REDOC_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Healthcare Platform API</title><link rel="icon" href="data:,"><style>body { margin: 0 }</style></head>
<body><redoc spec-url="/v1/openapi.json"></redoc><script src="/docs/redoc.js"></script></body></html>
"""

swagger = SpectacularSwaggerSplitView.as_view(url="/docs/openapi.json", permission_classes=[])
