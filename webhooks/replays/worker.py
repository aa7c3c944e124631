"""Carrying replays out, lane by lane. Any number of processes may do so and may die: a batch is one transaction."""

import logging
from datetime import datetime, timedelta
from uuid import UUID

from django.db import Error

from core import clock
from core.db import role_context
from core.lanes import Lane, in_turn
from core.rounds import GoOn, Rounds
from core.row_security import DISPATCHER
from webhooks import states
from webhooks.models import DueDelivery, Endpoint, Replay

from .batches import queue_batch

log = logging.getLogger(__name__)

BATCH = 1000
MOST_DUE = 2000
HOPELESS = timedelta(hours=1)

_rounds = Rounds()


def carry_on(*, go_on: GoOn) -> int:
    """Carry open replays on, a batch of each tenant in turn, while `go_on` says so, until none can go on; count the batches."""
    done = 0
    while go_on():
        moved = 0
        for lane in in_turn("webhooks.replays"):
            moved += _rounds.serve(_open_replays(lane), _try_now, go_on=go_on)
            if not go_on():
                break  # the next run begins with another lane
        done += moved
        if not moved:
            break
    return done


def _open_replays(lane: Lane) -> list[tuple[UUID, UUID]]:
    with role_context(DISPATCHER):
        found = Replay.objects.filter(state__in=states.REPLAYING)
        return list(lane.filter(found).order_by("created_at", "id").values_list("tenant_id", "id"))


def _try_now(tenant_id: UUID, replay_id: UUID) -> bool:
    return _try(tenant_id, replay_id, clock.now())


def _try(tenant_id: UUID, replay_id: UUID, at: datetime) -> bool:
    try:
        return advance(tenant_id, replay_id, at=at)
    except Error as error:  # one replay's trouble must not stop the others; the next sweep tries it again
        log.warning("replay stumbled", extra={"replay": str(replay_id), "error": type(error).__name__})
        _note(tenant_id, replay_id, type(error).__name__, at)
        return False


def advance(tenant_id: UUID, replay_id: UUID, *, at: datetime) -> bool:
    """Carry one replay a batch further; tell whether it may go on at once.

    Rows are locked as everywhere: the endpoint first. A replay that somebody else is busy with is passed over.
    """
    with role_context(DISPATCHER):
        endpoint = _held_endpoint(tenant_id, replay_id)
        mine = Replay.objects.filter(tenant_id=tenant_id, id=replay_id, state__in=states.REPLAYING)
        replay: Replay | None = mine.select_for_update(skip_locked=True).first()
        if replay is None or endpoint is None:
            return False
        if not endpoint.active:
            _end(replay, states.FAILED, at, error="endpoint_inactive")
            return False
        if _is_full(endpoint):
            return False
        batch = queue_batch(replay, endpoint, limit=BATCH)
        replay.state, replay.error, replay.started_at = states.RUNNING, "", replay.started_at or at
        replay.examined += batch.examined
        replay.queued += batch.queued
        if batch.cursor_at is not None:
            replay.cursor_at, replay.cursor_id = batch.cursor_at, batch.cursor_id
        more = batch.examined == BATCH
        _end(replay, states.RUNNING if more else states.COMPLETED, at)
        return more


def _held_endpoint(tenant_id: UUID, replay_id: UUID) -> Endpoint | None:
    """The endpoint, which nobody disables or deletes meanwhile."""
    rows = Endpoint.objects.raw(
        "SELECT * FROM webhooks_endpoint WHERE tenant_id = %(tenant)s AND id = (SELECT endpoint_id FROM webhooks_replay"
        " WHERE tenant_id = %(tenant)s AND id = %(replay)s) FOR SHARE",
        {"tenant": tenant_id, "replay": replay_id},
    )
    return next(iter(rows), None)


def _is_full(endpoint: Endpoint) -> bool:
    """Tell whether so much waits for the endpoint that more would only stand in the way of what happens now."""
    mine = DueDelivery.objects.filter(tenant_id=endpoint.tenant_id, endpoint_id=endpoint.id)
    waiting = mine.values_list("delivery_id")[: MOST_DUE + 1]
    return len(waiting) > MOST_DUE


def _end(replay: Replay, state: str, at: datetime, *, error: str = "") -> None:
    replay.state, replay.error = state, error
    replay.finished_at = None if state in states.REPLAYING else at
    replay.save_version(
        "state", "error", "started_at", "finished_at", "examined", "queued", "cursor_at", "cursor_id", at=at
    )


def _note(tenant_id: UUID, replay_id: UUID, error: str, at: datetime) -> None:
    """Show what went wrong; after an hour without a single batch it has failed."""
    with role_context(DISPATCHER):
        rows = Replay.objects.filter(tenant_id=tenant_id, id=replay_id, state__in=states.REPLAYING)
        hopeless = rows.exclude(error="").filter(updated_at__lt=at - HOPELESS)
        if not hopeless.update_versions(state=states.FAILED, error=error, finished_at=at, at=at):
            rows.filter(error="").update(error=error, updated_at=at)
