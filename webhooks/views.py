"""The webhook operations over HTTP, for API keys and bearer tokens alike: the credential decides the envelope."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.permissions import Operation
from api.views import ApiViewSet
from api.writing import Answer, Command
from core.errors import InvalidTransition

from . import actions, egress, queries, shapes
from .egress import BlockedDestination
from .parts import READ, WRITE, EndpointPart, endpoint_with_key, find_part, of_endpoint, with_key
from .patterns import UnknownEventPattern
from .policies import FullPayloadForbidden
from .serializers import EndpointChangeIn, EndpointIn

_EXAMPLE = {
    "url": "https://hooks.example.com/platform",
    "events": ["product.*", "api_key.expiring"],
    "description": "Warehouse system",
}


class EndpointViewSet(EndpointPart):
    """Endpoints: where events are sent, which, and how."""

    operation_ids: ClassVar = {"create": "createWebhookEndpoint"}

    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            scope=READ, summary="List webhook endpoints", listing=shapes.ENDPOINTS, shape=shapes.ENDPOINT
        ),
        "create": Operation(
            scope=WRITE,
            summary="Register a webhook endpoint",
            description="The answer holds the signing secret, this once; with `signature: ed25519` it holds the public key, "
            "which can be read again. `payload_mode: full` needs, beside this scope, the scope to read every kind of resource the "
            "patterns cover (`catalog.read` for `product.*`). A tenant has at most 100 endpoints.",
            body=EndpointIn,
            status=201,
            answer=endpoint_with_key(),
            secrets=("secret",),
            errors=(
                BlockedDestination,
                UnknownEventPattern,
                FullPayloadForbidden,
                actions.EndpointLimitReached,
            ),
            example=_EXAMPLE,
        ),
        "retrieve": Operation(
            scope=READ,
            summary="Read a webhook endpoint",
            description="The ETag changes with the endpoint's health too; what stands before a semicolon in it is the version.",
            shape=shapes.ENDPOINT,
        ),
        "partial_update": Operation(
            scope=WRITE,
            summary="Change a webhook endpoint",
            description="`active: false` stops delivery and keeps history; `active: true` resumes what is under 72 h old, lets "
            "older deliveries fail (replay them), and forgets past failures. What happens while it is inactive is not queued: "
            "a replay with `only: missing` makes up for it.",
            body=EndpointChangeIn,
            partial=True,
            shape=shapes.ENDPOINT,
            errors=(BlockedDestination, UnknownEventPattern, FullPayloadForbidden),
            example={"active": False},
        ),
        "destroy": Operation(
            scope=WRITE,
            summary="Delete a webhook endpoint; its history stays",
            description="What was not delivered has failed. Deliveries and replays stay readable.",
            status=204,
        ),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """The tenant's endpoints."""
        return self.page()

    def create(self, request: HttpRequest) -> HttpResponse:
        """Register one."""
        addresses = self._addresses()

        def work(command: Command) -> Answer:
            made = actions.create_endpoint(actor=command.actor, data=command.data, addresses=addresses, at=command.at)
            return with_key(made, status=201, location=f"{request.path}/{made.endpoint.pk}")

        return self.write(work)

    def retrieve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """One endpoint."""
        return self.one(pk)

    def partial_update(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Change one."""
        addresses = self._addresses()

        def work(command: Command) -> Any:
            return actions.update_endpoint(
                actor=command.actor,
                endpoint=command.target,
                data=command.data,
                addresses=addresses,
                at=command.at,
            )

        return self.write(work, find=lambda actor: queries.locked_endpoint(actor, pk))

    def destroy(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Delete one."""

        def work(command: Command) -> Any:
            return actions.delete_endpoint(actor=command.actor, endpoint=command.target, at=command.at)

        return self.write(work, find=lambda actor: queries.locked_endpoint(actor, pk))

    def _addresses(self) -> Sequence[str]:
        """Look the new address's name up, before the transaction that may not wait for it."""
        way = egress.rules()
        if way.allow_private:
            return ()
        return self.ahead(lambda data: egress.look_up(data["url"], way) if "url" in data else []) or ()


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
        return self.page(of_endpoint(pk))

    def delivery(self, request: HttpRequest, pk: UUID, delivery_id: UUID) -> HttpResponse:
        """One delivery."""
        return self.one(delivery_id, extra=of_endpoint(pk))

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
            policy="webhooks",
        ),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """The tenant's events."""
        return self.page()
