"""What the views of endpoints and of their parts share."""

from collections.abc import Collection, Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.filters import Condition
from api.views import ApiViewSet
from core.actor import Actor
from core.errors import NotFound
from core.pipeline import Call, Statement
from organizations.public import LocationForbidden

_EXISTS = Statement.of(
    "SELECT 1 FROM webhooks_endpoint WHERE id = $1 AND tenant_id = $2 AND (deleted_at IS NULL OR $3::boolean)"
)


class TenantWideViewSet(ApiViewSet):
    """Base of views of events, which tell of every place of the tenant and cannot be narrowed to some (decision 144).

    `for_limited` are the actions that tell nothing of events; members and keys that are limited to places run no others.
    """

    for_limited: ClassVar[Collection[str]] = ()

    def _check(self, actor: Actor) -> None:
        super()._check(actor)
        if actor.location_ids and self.action not in self.for_limited:
            raise LocationForbidden


class WebhookViewSet(TenantWideViewSet):
    """Base of the views at /v1/webhooks."""

    family: ClassVar[str] = "webhooks"
    scope_prefix: ClassVar[str] = "webhooks:"
    for_limited: ClassVar[Collection[str]] = ("list", "retrieve")


class EndpointPart(WebhookViewSet):
    """Base of the views of an endpoint's parts, at /v1/webhooks/{pk}/…: they show the rows of that endpoint.

    `of_deleted` says whether they can still be listed when the endpoint was deleted.
    """

    of_deleted: ClassVar[bool] = True

    def restrictions(self) -> Sequence[Condition]:
        """Only rows of the endpoint that the path names."""
        return (of_endpoint(self.kwargs["pk"]),)

    def list(self, request: HttpRequest, **path: Any) -> HttpResponse:
        """Answer the list.

        :raises NotFound: the endpoint is not the caller's, or is deleted where that counts.
        """
        endpoint_id, deleted = str(path["pk"]), str(self.of_deleted)
        _, (found,) = self.read(lambda tenant_id: [Call(_EXISTS, [endpoint_id, str(tenant_id), deleted])])
        if not len(found):
            raise NotFound("No such webhook endpoint.")
        return self.list_page()


def of_endpoint(endpoint_id: UUID) -> Condition:
    """The condition on rows of one endpoint."""
    return Condition('t."endpoint_id" = {0}', (str(endpoint_id),))
