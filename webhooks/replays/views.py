"""HTTP of replays."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.operations import Operation
from core.errors import InvalidTransition
from organizations.public import LocationForbidden
from webhooks.actions import EndpointInactive
from webhooks.parts import EndpointPart, WebhookViewSet
from webhooks.patterns import UnknownEventPattern
from webhooks.queries import locked_endpoint
from webhooks.refusals import ReplayInProgress

from .actions import cancel_replay, request_replay
from .filters import ReplayFilters
from .queries import locked_replay
from .representations import WebhookReplayOut
from .serializers import ReplayIn


class ReplayViewSet(EndpointPart):
    """The replays of one endpoint, also after it was deleted."""

    lookup_url_kwarg = "replay_id"
    serializer_class = WebhookReplayOut
    filterset_class = ReplayFilters
    operations = {
        "list": Operation("List replays"),
        "retrieve": Operation("Get a replay and its progress"),
        "cancel": Operation(
            "Stop a replay",
            "What it has queued so far is delivered all the same.",
            find=locked_replay,
            run=cancel_replay,
            errors=(InvalidTransition, LocationForbidden),
        ),
    }

    @action(detail=True, methods=["post"])
    def cancel(self, request: HttpRequest, pk: UUID, replay_id: UUID) -> HttpResponse:
        """Run the action and answer the replay as it ended."""
        return self.write()


class ReplayRequestViewSet(WebhookViewSet):
    """Requests for a replay."""

    operation_ids = {"replay": "createWebhookReplay"}
    operations = {
        "replay": Operation(
            "Send a stretch of the past again",
            "A durable job: the answer names it, `Location` is where its progress can be read. `failed` sends what has "
            "failed, `missing` makes deliveries of events that have none though the endpoint wants them (they happened "
            "while it was disabled, or before it was there), `all` is both and what was delivered besides. Nothing that "
            "is still on its way is sent twice; a `webhook-id` stays what it was. `since` lies within the retention, "
            "`until` defaults to now; an endpoint has at most one open replay. It keeps behind what is due already, so "
            "that live events are not held up.",
            body=ReplayIn,
            answer=WebhookReplayOut,
            status=202,
            find=locked_endpoint,
            run=request_replay,
            errors=(EndpointInactive, UnknownEventPattern, ReplayInProgress, LocationForbidden),
            example={"since": "2026-01-01T00:00:00Z", "types": ["product.*"], "only": "missing"},
        ),
    }

    @action(detail=True, methods=["post"])
    def replay(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Run the action and answer the replay that it requested."""
        return self.write()

    def location(self, key: object, status: int) -> str:
        """Where the replay's progress is read."""
        return f"/v1/webhooks/{self.kwargs['pk']}/replays/{key}"
