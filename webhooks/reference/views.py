"""HTTP of the catalogue of events and of what there is to know about deliveries."""

import orjson
from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api import preconditions
from api.filters import check_names
from api.list_responses import items_answer
from api.operations import Operation
from webhooks import catalogue
from webhooks.parts import WebhookViewSet

from . import meta
from .representations import EventTypeOut, WebhookMetaOut


class ReferenceViewSet(WebhookViewSet):
    """What is the same for every tenant; any member with the scope may read it."""

    operation_ids = {"meta": "getWebhookSettings"}
    for_limited = ("event_types", "meta")
    operations = {
        "event_types": Operation(
            "List the event catalogue",
            "Every event there is, by name, with the JSON Schema and an example of its `data.object`.",
            items=EventTypeOut,
        ),
        "meta": Operation(
            "Get from where, when and how the platform sends",
            "Addresses for a firewall, the schedule of retries, timeouts, limits and signatures.",
            answer=WebhookMetaOut,
        ),
    }

    @action(detail=False)
    def event_types(self, request: HttpRequest) -> HttpResponse:
        """Answer a page of the catalogue."""
        self.actor()
        kinds = catalogue.written()
        response = items_answer(request, kinds, paging=self.style.paging, sort="type")
        tag = preconditions.content_etag(b"\n".join([*kinds, request.META["QUERY_STRING"].encode()]))
        if preconditions.matches_none(request, tag):
            response = HttpResponse(status=304)
        response.headers["ETag"] = tag
        return response

    @action(detail=False)
    def meta(self, request: HttpRequest) -> HttpResponse:
        """Answer the document."""
        check_names(request.GET, ())
        self.actor()
        content = orjson.dumps(meta.describe())
        return self.answer(content, tag=preconditions.content_etag(content))
