"""The webhook operations over HTTP, for API keys and bearer tokens alike: the credential decides the envelope."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse

from api import preconditions
from api.filters import Condition, check_names
from api.listing import one_call
from api.permissions import Operation
from api.shapes import Selection
from api.views import ApiViewSet
from api.writing import Answer, Command
from core import pipeline
from core.errors import NotFound
from core.pipeline import Call, Statement
from ledger import public as ledger

from . import actions, catalogue, egress, queries, shapes
from .egress import BlockedDestination
from .patterns import UnknownEventPattern
from .serializers import EndpointIn, RotationIn

READ, WRITE = "webhooks:read", "webhooks:write"

_WITH_SECRET = {**shapes.ENDPOINT.schema()}
_WITH_SECRET["properties"] = {
    **_WITH_SECRET["properties"],
    "secret": {"type": "string", "pattern": "^whsec_", "description": "The signing key; shown this once."},
}
_EVENT_TYPE = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "type": {"type": "string"},
            "version": {"type": "integer"},
            "resource": {"type": "string"},
            "description": {"type": "string"},
            "schema": {"type": "object"},
            "example": {"type": "object"},
        },
    },
}
_EXISTS = Statement.of("SELECT 1 FROM webhooks_endpoint WHERE id = $1 AND tenant_id = $2")


class EndpointViewSet(ApiViewSet):
    """Endpoints, their deliveries and their secrets."""

    family = "webhooks"
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            scope=READ, summary="List webhook endpoints", listing=shapes.ENDPOINTS, shape=shapes.ENDPOINT
        ),
        "create": Operation(
            scope=WRITE,
            summary="Register a webhook endpoint",
            description="The answer holds the signing secret, this once. A tenant has at most 100 endpoints.",
            body=EndpointIn,
            status=201,
            answer=_WITH_SECRET,
            secrets=("secret",),
            errors=(BlockedDestination, UnknownEventPattern, actions.EndpointLimitReached),
        ),
        "retrieve": Operation(scope=READ, summary="Read a webhook endpoint", shape=shapes.ENDPOINT),
        "partial_update": Operation(
            scope=WRITE,
            summary="Change a webhook endpoint",
            description="`active: false` stops delivery and keeps history; `active: true` resumes what is under 72 h old.",
            body=EndpointIn,
            partial=True,
            shape=shapes.ENDPOINT,
            errors=(BlockedDestination, UnknownEventPattern),
        ),
        "destroy": Operation(scope=WRITE, summary="Delete a webhook endpoint; its history stays", status=204),
        "deliveries": Operation(scope=READ, summary="List deliveries with their attempts", listing=shapes.DELIVERIES),
        "delivery": Operation(scope=READ, summary="Read a delivery with its attempts", shape=shapes.DELIVERY),
        "rotate_secret": Operation(
            scope=WRITE,
            summary="Rotate the signing secret",
            description="The new key signs at once; the old one signs beside it for `overlap_seconds`.",
            body=RotationIn,
            answer=_WITH_SECRET,
            secrets=("secret",),
        ),
        "event_types": Operation(scope=READ, summary="List the event catalogue", answer=_EVENT_TYPE),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """The tenant's endpoints."""
        return self.page()

    def create(self, request: HttpRequest) -> HttpResponse:
        """Register one."""
        addresses = self._addresses()

        def work(command: Command) -> Answer:
            made = actions.create_endpoint(actor=command.actor, data=command.data, addresses=addresses, at=command.at)
            return _with_secret(made, status=201, location=f"{request.path}/{made.endpoint.pk}")

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

    def rotate_secret(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Give it a new signing key."""

        def work(command: Command) -> Answer:
            made = actions.rotate_secret(
                actor=command.actor,
                endpoint=command.target,
                overlap_seconds=command.data["overlap_seconds"],
                at=command.at,
            )
            return _with_secret(made)

        return self.write(work, find=lambda actor: queries.locked_endpoint(actor, pk))

    def deliveries(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """What became of the events that went to one endpoint, also after it was deleted."""
        _, (found,) = self.ask(lambda tenant_id: [Call(_EXISTS, [str(pk), str(tenant_id)])])
        if not len(found):
            raise NotFound("No such webhook endpoint.")
        return self.page(_of_endpoint(pk))

    def delivery(self, request: HttpRequest, pk: UUID, delivery_id: UUID) -> HttpResponse:
        """One delivery."""
        return self.one(delivery_id, extra=_of_endpoint(pk))

    def _addresses(self) -> Sequence[str]:
        """Look the new address's name up, before the transaction that may not wait for it."""
        way = egress.rules()
        if way.allow_private:
            return ()
        return self.ahead(lambda data: egress.look_up(data["url"], way) if "url" in data else []) or ()

    def event_types(self, request: HttpRequest) -> HttpResponse:
        """Every event there is."""
        check_names(request.GET, ())
        self.ask(lambda _: ())
        return self.answer(orjson.dumps([catalogue.describe(kind) for kind in ledger.catalogue().values()]))


class EventViewSet(ApiViewSet):
    """The pull feed of the same log that is delivered: oldest first, always by cursor."""

    family = "events"
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            scope=READ,
            summary="Read the event log",
            description="The envelopes as they are delivered, oldest first; the last two seconds are held back.",
            listing=shapes.EVENTS,
            policy="webhooks",
        ),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """The tenant's events."""
        return self.page()


def _of_endpoint(endpoint_id: UUID) -> Condition:
    return Condition('t."endpoint_id" = {0}', (str(endpoint_id),))


def _with_secret(shown: actions.Shown, *, status: int = 200, location: str = "") -> Answer:
    """The endpoint as it reads everywhere else, and its secret."""
    endpoint = shown.endpoint
    call = one_call(shapes.ENDPOINT, Selection(), endpoint.tenant_id, str(endpoint.pk))
    (rows,) = pipeline.run([call])
    content = orjson.loads(rows.value() or b"{}") | {"secret": shown.secret}
    headers = {"Location": location} if location else {}
    tag = preconditions.etag(str(endpoint.version), Selection())
    return Answer(orjson.dumps(content), status=status, headers=headers, tag=tag)
