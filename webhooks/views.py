"""The webhook operations over HTTP, for API keys and bearer tokens alike: the credential decides the envelope."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

import django_filters
from django.http import HttpRequest, HttpResponse

from api.filters import Filters
from api.operations import Operation
from api.views import ApiViewSet
from api.writing import Command
from core.errors import InvalidTransition

from . import actions, egress, queries, shapes
from .actions import EndpointLimitReached, create_endpoint, delete_endpoint, update_endpoint
from .egress import BlockedDestination
from .models import Endpoint
from .parts import READ, WRITE, EndpointPart, find_part, of_endpoint
from .patterns import UnknownEventPattern
from .policies import FullPayloadForbidden
from .queries import locked_endpoint
from .representations import NewWebhookEndpointOut, WebhookEndpointOut
from .serializers import EndpointChangeIn, EndpointIn

_EXAMPLE = {
    "url": "https://hooks.example.com/platform",
    "events": ["product.*", "api_key.expiring"],
    "description": "Warehouse system",
}


class EndpointFilters(Filters):
    """`active` narrows to the enabled or the disabled ones."""

    active = django_filters.BooleanFilter()

    class Meta:
        model = Endpoint
        fields: Any = []


class EndpointViewSet(EndpointPart):
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
            "cover (`catalog.read` for `product.*`). A tenant has at most 100 endpoints.",
            body=EndpointIn,
            answer=NewWebhookEndpointOut,
            run=create_endpoint,
            secrets=("secret",),
            errors=(BlockedDestination, UnknownEventPattern, FullPayloadForbidden, EndpointLimitReached),
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
            "replay with `only: missing` makes up for it.",
            body=EndpointChangeIn,
            find=locked_endpoint,
            run=update_endpoint,
            errors=(BlockedDestination, UnknownEventPattern, FullPayloadForbidden),
            example={"active": False},
        ),
        "destroy": Operation(
            "Delete a webhook endpoint; its history stays",
            "What was not delivered has failed. Deliveries and replays stay readable.",
            find=locked_endpoint,
            run=delete_endpoint,
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

    operations: ClassVar[dict[str, Operation]] = {
        "deliveries": Operation(
            scope=READ,
            summary="List deliveries with their attempts",
            description="`event` is a type or an event's id; `undelivered=true` is everything a receiver has not taken. Events "
            "that are not queued yet are among them, in the state `created`.",
            listing=shapes.DELIVERIES,
        ),
        "delivery": Operation(scope=READ, summary="Read a delivery with its attempts", shape=shapes.DELIVERY),
        "redeliver": Operation(
            scope=WRITE,
            summary="Send a finished delivery again",
            description="The same delivery goes out again, with the same `webhook-id`: its schedule begins anew, its attempts "
            "count on. Refused while it is still on its way (`invalid_transition`), while the endpoint is disabled or deleted "
            "(`endpoint_inactive`), and when the event is past its retention (`event_gone`).",
            shape=shapes.DELIVERY,
            status=202,
            errors=(InvalidTransition, actions.EndpointInactive, actions.EventGone),
        ),
    }

    def deliveries(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """All of one endpoint."""
        self.must_exist(pk)
        return self.list_page(of_endpoint(pk))

    def delivery(self, request: HttpRequest, pk: UUID, delivery_id: UUID) -> HttpResponse:
        """One delivery."""
        return self.retrieve_one(delivery_id, extra=of_endpoint(pk))

    def redeliver(self, request: HttpRequest, pk: UUID, delivery_id: UUID) -> HttpResponse:
        """Send one again."""

        def work(command: Command) -> Any:
            endpoint, delivery = command.target
            return actions.resend_delivery(actor=command.actor, endpoint=endpoint, delivery=delivery, at=command.at)

        return self.write(work, find=find_part(pk, queries.locked_delivery, delivery_id))


class EventViewSet(ApiViewSet):
    """The pull feed of the same log that is delivered: oldest first, always by cursor."""

    family = "events"
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            scope=READ,
            summary="Read the event log",
            description="The envelopes as they are delivered, oldest first; the last two seconds are held back, and what a "
            "transaction that is still open may yet come before.",
            listing=shapes.EVENTS,
        ),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """The tenant's events."""
        return self.list_page()
