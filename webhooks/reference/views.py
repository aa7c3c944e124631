"""HTTP of the catalogue of events and of what there is to know about deliveries."""

from typing import Any, ClassVar

import orjson
from django.http import HttpRequest, HttpResponse

from api import envelopes, preconditions
from api.families import PAGES
from api.filters import check_names
from api.listing import positive
from api.operations import Operation
from api.views import ApiViewSet
from core import clock, cursors
from ledger import public as ledger
from webhooks import catalogue
from webhooks.parts import READ

from . import meta

_TEXT = {"type": "string"}
_KIND: dict[str, Any] = {
    "title": "EventType",
    "type": "object",
    "required": ["type", "version", "resource", "data_class", "description", "schema", "example"],
    "properties": {
        "type": _TEXT,
        "version": {"type": "integer"},
        "resource": _TEXT,
        "data_class": {
            "type": "string",
            "x-extensible-enum": list(ledger.DATA_CLASSES),
            "description": "What the resource holds, which a thin payload does not: none, personal, phi.",
        },
        "description": _TEXT,
        "schema": {"type": "object", "description": "JSON Schema of `data.object`."},
        "example": {"type": "object", "description": "An example of `data.object`."},
    },
    "examples": [
        {
            "type": "product.created",
            "version": 1,
            "resource": "product",
            "data_class": "none",
            "description": "A product was created.",
            "schema": {"type": "object"},
            "example": {"type": "product", "id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b90", "version": 1},
        }
    ],
}


class ReferenceViewSet(ApiViewSet):
    """What is the same for every tenant; any member with the scope may read it."""

    family = "webhooks"
    operation_ids = {"meta": "getWebhookSettings"}
    operations: ClassVar[dict[str, Operation]] = {
        "event_types": Operation(
            scope=READ,
            summary="List the event catalogue",
            description="Every event there is, by name, with the JSON Schema and an example of its `data.object`.",
            items=_KIND,
        ),
        "meta": Operation(
            scope=READ,
            summary="Read from where, when and how the platform sends",
            description="Addresses for a firewall, the schedule of retries, timeouts, limits and signatures.",
            answer=meta.SCHEMA,
        ),
    }

    def event_types(self, request: HttpRequest) -> HttpResponse:
        """A page of the catalogue."""
        self.read(lambda _: ())
        supplier = self.style.paging is PAGES
        check_names(request.GET, ("limit", "page" if supplier else "cursor"))
        kinds = catalogue.written()
        response = self._page_of(kinds) if supplier else self._cursor_of(kinds)
        tag = preconditions.content_etag(b"\n".join([*kinds, request.META["QUERY_STRING"].encode()]))
        if preconditions.matches_none(request, tag):
            response = HttpResponse(status=304)
        response.headers["ETag"] = tag
        return response

    def meta(self, request: HttpRequest) -> HttpResponse:
        """The document."""
        check_names(request.GET, ())
        self.read(lambda _: ())
        content = orjson.dumps(meta.describe())
        return self.answer(content, tag=preconditions.content_etag(content))

    def _page_of(self, items: tuple[bytes, ...]) -> HttpResponse:
        page = positive(self.request.GET.get("page"), 1)
        limit = positive(self.request.GET.get("limit"), 20, most=100)
        relations = {"first": {"page": 1, "limit": limit}}
        if page > 1:
            relations["prev"] = {"page": page - 1, "limit": limit}
        if page * limit < len(items):
            relations["next"] = {"page": page + 1, "limit": limit}
        shown = items[(page - 1) * limit : page * limit]
        content = envelopes.page(list(shown), page=page, limit=limit, total=len(items))
        return envelopes.respond(content, headers={"Link": envelopes.link(self.request, **relations)})

    def _cursor_of(self, items: tuple[bytes, ...]) -> HttpResponse:
        limit = positive(self.request.GET.get("limit"), 50, most=200)
        place: dict[str, Any] = {"tenant_id": None, "path": self.request.path, "sort": "type", "filters_hash": ""}
        token = self.request.GET.get("cursor")
        first = int(cursors.open(token, at=clock.now(), **place).id) if token is not None else 0
        following = None
        if first + limit < len(items):
            following = cursors.seal(cursors.Position((), str(first + limit)), at=clock.now(), **place)
        content = envelopes.cursor(list(items[first : first + limit]), next_cursor=following, limit=limit)
        links = envelopes.link(self.request, next={"cursor": following, "limit": limit}) if following else ""
        return envelopes.respond(content, headers={"Link": links} if links else {})
