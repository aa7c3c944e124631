"""The OpenAPI document and the pages that show it, all served from here: no request leaves the machine."""

import functools

import orjson
from django.http import HttpRequest, HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularRedocView, SpectacularSwaggerSplitView

from core.canonical import sha256_hex


def document() -> dict[str, object]:
    """Build the OpenAPI 3.1 document from the routes."""
    found: dict[str, object] = SchemaGenerator().get_schema(request=None, public=True)
    return found


@functools.lru_cache(maxsize=1)
def _encoded() -> tuple[bytes, str]:
    content = orjson.dumps(document(), default=str)
    return content, f'"{sha256_hex(content)[:32]}"'


def openapi(request: HttpRequest) -> HttpResponse:
    """GET /v1/openapi.json"""
    content, tag = _encoded()
    if request.headers.get("If-None-Match") == tag:
        return HttpResponse(status=304, headers={"ETag": tag})
    return HttpResponse(
        content, content_type="application/json", headers={"ETag": tag, "Cache-Control": "public, max-age=300"}
    )


swagger = SpectacularSwaggerSplitView.as_view(url="/v1/openapi.json", permission_classes=[])
redoc = SpectacularRedocView.as_view(url="/v1/openapi.json", permission_classes=[])
