"""HTTP of replays."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.listing import one_call
from api.operations import Operation
from api.shapes import Selection
from api.writing import Answer, Command
from core import pipeline
from core.errors import InvalidTransition
from webhooks.actions import EndpointInactive
from webhooks.parts import READ, WRITE, EndpointPart, find_part, of_endpoint
from webhooks.patterns import UnknownEventPattern
from webhooks.queries import locked_endpoint
from webhooks.refusals import ReplayInProgress

from . import actions, queries, shapes
from .serializers import ReplayIn


class ReplayViewSet(EndpointPart):
    """The replays of one endpoint."""

    operation_ids = {"replay": "createWebhookReplay"}

    operations: ClassVar[dict[str, Operation]] = {
        "replay": Operation(
            scope=WRITE,
            summary="Send a stretch of the past again",
            description="A durable job: the answer names it, `Location` is where its progress can be read. `failed` sends what "
            "has failed, `missing` makes deliveries of events that have none though the endpoint wants them (they happened while "
            "it was disabled, or before it was there), `all` is both and what was delivered besides. Nothing that is still on "
            "its way is sent twice; a `webhook-id` stays what it was. `since` lies within the retention, `until` is now unless "
            "told; an endpoint has one open replay at most. It keeps behind what is due already, so that live events are not "
            "held up.",
            body=ReplayIn,
            answer={**shapes.REPLAY.schema(), "title": "WebhookReplay"},
            status=202,
            errors=(EndpointInactive, UnknownEventPattern, ReplayInProgress),
            example={"since": "2026-01-01T00:00:00Z", "types": ["product.*"], "only": "missing"},
        ),
        "list": Operation(scope=READ, summary="List replays", listing=shapes.REPLAYS),
        "retrieve": Operation(scope=READ, summary="Read a replay and its progress", shape=shapes.REPLAY),
        "cancel": Operation(
            scope=WRITE,
            summary="Stop a replay",
            description="What it has queued so far is delivered all the same.",
            shape=shapes.REPLAY,
            errors=(InvalidTransition,),
        ),
    }

    def replay(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Ask for one."""

        def work(command: Command) -> Answer:
            made = actions.request_replay(
                actor=command.actor, endpoint=command.target, data=command.data, at=command.at
            )
            (rows,) = pipeline.run([one_call(shapes.REPLAY, Selection(), made.tenant_id, str(made.id))])
            return Answer(rows.value() or b"null", headers={"Location": f"/v1/webhooks/{pk}/replays/{made.id}"})

        return self.write(work, find=lambda actor: locked_endpoint(actor, pk))

    def list(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """All of one endpoint, also after it was deleted."""
        self.must_exist(pk)
        return self.list_page(of_endpoint(pk))

    def retrieve(self, request: HttpRequest, pk: UUID, replay_id: UUID) -> HttpResponse:
        """One replay."""
        return self.retrieve_one(replay_id, extra=of_endpoint(pk))

    def cancel(self, request: HttpRequest, pk: UUID, replay_id: UUID) -> HttpResponse:
        """Stop one."""

        def work(command: Command) -> Any:
            endpoint, replay = command.target
            return actions.cancel_replay(actor=command.actor, endpoint=endpoint, replay=replay, at=command.at)

        return self.write(work, find=find_part(pk, queries.locked_replay, replay_id))
