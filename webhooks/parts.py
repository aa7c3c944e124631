"""What the views of an endpoint and of its parts share."""

from collections.abc import Callable
from typing import ClassVar, TypeVar
from uuid import UUID

from api.filters import Condition
from api.views import ApiViewSet
from core.actor import Actor
from core.errors import NotFound
from core.pipeline import Call, Statement

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
    scope_prefix: ClassVar[str] = "webhooks:"

    def must_exist(self, endpoint_id: UUID, *, deleted: bool = True) -> None:
        """Refuse an endpoint that is not the caller's; what a deleted one did stays readable.

        :raises NotFound: as said.
        """
        _, (found,) = self.read(lambda tenant_id: [Call(_EXISTS, [str(endpoint_id), str(tenant_id), str(deleted)])])
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
