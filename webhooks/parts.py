"""What the views of an endpoint and of its parts share."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar
from uuid import UUID

import orjson

from api import preconditions
from api.filters import Condition
from api.listing import one_call
from api.shapes import Selection
from api.views import ApiViewSet
from api.writing import Answer
from core import pipeline
from core.actor import Actor
from core.errors import NotFound
from core.pipeline import Call, Statement

from . import shapes
from .changes import Shown
from .models import Endpoint
from .queries import locked_endpoint

Part = TypeVar("Part")

READ, WRITE = "webhooks:read", "webhooks:write"

_EXISTS = Statement.of(
    "SELECT 1 FROM webhooks_endpoint WHERE id = $1 AND tenant_id = $2 AND (deleted_at IS NULL OR $3::boolean)"
)


class EndpointPart(ApiViewSet):
    """Base of the views below /v1/webhooks/{id}."""

    family: ClassVar[str] = "webhooks"

    def must_exist(self, endpoint_id: UUID, *, deleted: bool = True) -> None:
        """Refuse an endpoint that is not the caller's; what a deleted one did stays readable.

        :raises NotFound: as said.
        """
        _, (found,) = self.ask(lambda tenant_id: [Call(_EXISTS, [str(endpoint_id), str(tenant_id), str(deleted)])])
        if not len(found):
            raise NotFound("No such webhook endpoint.")


def find_part(
    endpoint_id: UUID, locked: Callable[[Actor, Endpoint, UUID], Part], part_id: UUID
) -> Callable[[Actor], tuple[Endpoint, Part]]:
    """How a write finds a part of an endpoint, which may be deleted: both are locked, the endpoint first."""

    def find(actor: Actor) -> tuple[Endpoint, Part]:
        endpoint = locked_endpoint(actor, endpoint_id, deleted=True)
        return endpoint, locked(actor, endpoint, part_id)

    return find


def of_endpoint(endpoint_id: UUID) -> Condition:
    """The condition on rows of one endpoint."""
    return Condition('t."endpoint_id" = {0}', (str(endpoint_id),))


def endpoint_with_key() -> dict[str, Any]:
    """The schema of an endpoint that shows its new key."""
    found = {**shapes.ENDPOINT.schema(), "title": "WebhookEndpointWithKey"}
    found["examples"] = [{**(shapes.ENDPOINT.example or {}), "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}]
    found["properties"] = {
        **found["properties"],
        "secret": {
            "type": ["string", "null"],
            "pattern": "^whsec_",
            "description": "The signing key, shown this once (null when an Idempotency-Key is repeated); not for ed25519.",
        },
        "public_key": {
            "type": "string",
            "pattern": "^whpk_",
            "description": "With which receivers verify; only for ed25519, whose private half is never shown.",
        },
    }
    return found


def with_key(shown: Shown, *, status: int = 200, location: str = "") -> Answer:
    """The endpoint as it reads everywhere else, and its new key."""
    endpoint = shown.endpoint
    (rows,) = pipeline.run([one_call(shapes.ENDPOINT, Selection(), endpoint.tenant_id, str(endpoint.pk))])
    content, version = rows.row()
    key = {"secret": shown.secret} if shown.secret else {"public_key": shown.public_key}
    return Answer(
        orjson.dumps(orjson.loads(content or b"{}") | key),
        status=status,
        headers={"Location": location} if location else {},
        tag=preconditions.etag((version or b"").decode(), Selection()),
    )
