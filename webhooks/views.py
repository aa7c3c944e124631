"""The webhook operations over HTTP, for API keys and bearer tokens alike: the credential decides the envelope."""

from collections.abc import Collection, Sequence
from typing import ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.operations import Operation
from core.errors import InvalidTransition, QuotaExceeded
from organizations.public import LocationForbidden

from . import egress
from .actions import (
    EndpointInactive,
    EventGone,
    create_endpoint,
    delete_endpoint,
    resend_delivery,
    update_endpoint,
)
from .egress import BlockedDestination
from .filters import DeliveryFilters, EndpointFilters, EventFilters
from .parts import EndpointPart, TenantWideViewSet, WebhookViewSet
from .patterns import UnknownEventPattern
from .policies import FullPayloadForbidden
from .queries import locked_delivery, locked_endpoint
from .representations import EventOut, NewWebhookEndpointOut, WebhookDeliveryOut, WebhookEndpointOut
from .serializers import EndpointChangeIn, EndpointIn

_EXAMPLE = {
    "url": "https://hooks.example.com/platform",
    "events": ["product.*", "api_key.expiring"],
    "description": "Warehouse system",
}


class EndpointViewSet(WebhookViewSet):
    """Endpoints: where events are sent, which, and how."""

    operation_ids = {"create": "createWebhookEndpoint"}
    serializer_class = WebhookEndpointOut
    filterset_class = EndpointFilters
    operations = {
        "list": Operation("List webhook endpoints"),
        "create": Operation(
            "Register a webhook endpoint",
            "The answer holds the signing secret, this once; with `signature: ed25519` it holds the public key, which can be "
            "read again. `payload_mode: full` needs, beside this scope, the scope to read every kind of resource the patterns "
            "cover (`catalog.read` for `product.*`). How many a tenant may have is its quota `webhook_endpoints`.",
            body=EndpointIn,
            answer=NewWebhookEndpointOut,
            run=create_endpoint,
            secrets=("secret",),
            errors=(BlockedDestination, UnknownEventPattern, FullPayloadForbidden, LocationForbidden, QuotaExceeded),
            example=_EXAMPLE,
        ),
        "retrieve": Operation(
            "Get a webhook endpoint",
            "The ETag changes with the endpoint's health too; what stands before a semicolon in it is the version.",
        ),
        "partial_update": Operation(
            "Update a webhook endpoint",
            "`active: false` stops delivery and keeps history; `active: true` resumes what is under 72 h old, lets older "
            "deliveries fail (replay them), and forgets past failures. What happens while it is inactive is not queued: a "
            "replay with `only: missing` makes up for it. Events are matched by the patterns of their own time: new patterns hold "
            "for what happens from now on.",
            body=EndpointChangeIn,
            find=locked_endpoint,
            run=update_endpoint,
            errors=(BlockedDestination, UnknownEventPattern, FullPayloadForbidden, LocationForbidden),
            example={"active": False},
        ),
        "destroy": Operation(
            "Delete a webhook endpoint; its history stays",
            "What was not delivered has failed. Deliveries and replays stay readable.",
            find=locked_endpoint,
            run=delete_endpoint,
            errors=(LocationForbidden,),
        ),
    }

    def create(self, request: HttpRequest) -> HttpResponse:
        """Register one, whose host is looked up before the transaction."""
        return self.write(addresses=self._addresses())

    def partial_update(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Change one, whose new host is looked up before the transaction."""
        return self.write(addresses=self._addresses())

    def _addresses(self) -> Sequence[str]:
        """Look the new address's name up, before the transaction that may not wait for it."""
        way = egress.rules()
        if way.allow_private:
            return ()
        return self.before_transaction(lambda data: egress.look_up(data["url"], way) if "url" in data else []) or ()


class DeliveryViewSet(EndpointPart):
    """What became of the events that went to one endpoint, also after it was deleted."""

    lookup_url_kwarg = "delivery_id"
    serializer_class = WebhookDeliveryOut
    filterset_class = DeliveryFilters
    ordering_fields = ("created_at",)
    for_limited: ClassVar[Collection[str]] = ()
    operations = {
        "list": Operation(
            "List deliveries with their attempts",
            "`event` is a type or an event's id; `undelivered=true` is everything a receiver has not taken. Events that "
            "are not queued yet are among them, in the state `created`.",
            errors=(LocationForbidden,),
        ),
        "retrieve": Operation("Get a delivery with its attempts", errors=(LocationForbidden,)),
        "redeliver": Operation(
            "Send a delivery again",
            "The same delivery goes out again, with the same `webhook-id`; of one that waits for a retry that is made at "
            "once. Its schedule begins anew, its attempts count on. Refused while it is on its way this moment, or not "
            "tried yet (`invalid_transition`), while the endpoint is disabled or deleted "
            "(`endpoint_inactive`), and when the event is past its retention (`event_gone`).",
            status=202,
            find=locked_delivery,
            run=resend_delivery,
            errors=(InvalidTransition, EndpointInactive, EventGone, LocationForbidden),
        ),
    }

    @action(detail=True, methods=["post"])
    def redeliver(self, request: HttpRequest, pk: UUID, delivery_id: UUID) -> HttpResponse:
        """Run the action and answer the delivery as it is queued."""
        return self.write()


class EventViewSet(TenantWideViewSet):
    """The pull feed of the same log that is delivered: oldest first, always by cursor."""

    family = "events"
    scope_prefix = "webhooks:"
    serializer_class = EventOut
    filterset_class = EventFilters
    ordering_fields = ("created_at",)
    ordering = "created_at"
    operations = {
        "list": Operation(
            "Read the event log",
            "The envelopes as they are delivered, oldest first; the last two seconds are held back, and what a "
            "transaction that is still open may yet come before. The log tells of every place of the tenant, so members and "
            "keys that are limited to places do not read it.",
            errors=(LocationForbidden,),
        ),
    }
