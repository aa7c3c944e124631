"""Asking for a replay, and stopping one."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from core import jobs
from core.actor import Actor
from core.clock import rfc3339
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, InvalidTransition
from ledger import public as ledger
from webhooks import changes, events, patterns, states
from webhooks.actions import EndpointInactive
from webhooks.models import Endpoint, Replay
from webhooks.refusals import ReplayInProgress

CARRY_ON = "webhooks_replays.carry_on"


@needs_transaction
def request_replay(actor: Actor, endpoint: Endpoint, data: Mapping[str, Any], at: datetime) -> Replay:
    """Note the wish to send a stretch of the past to a locked endpoint again, and ring for somebody to do it.

    :raises EndpointInactive: nothing is sent to a disabled endpoint.
    :raises InvalidFields: the stretch is empty, or begins before what is kept.
    :raises UnknownEventPattern: a type matches no event of the catalogue.
    :raises ReplayInProgress: one is open already.
    """
    if not endpoint.active:
        raise EndpointInactive
    since, until = _stretch(data, at)
    wanted = patterns.check(data.get("types", []), ledger.catalogue(), field="types")
    earlier = Replay.objects.of(actor).filter(endpoint=endpoint, state__in=states.REPLAYING).first()
    if earlier is not None:
        raise ReplayInProgress(replay_id=str(earlier.id))
    replay = Replay.objects.create(
        tenant_id=actor.tenant_id, endpoint=endpoint, since=since, until=until, types=wanted, only=data["only"],
        requested_by=changes.name_of(actor), created_at=at, updated_at=at,
    )  # fmt: skip
    fact = events.ReplayRequested(
        replay_id=str(replay.id), only=replay.only, since=rfc3339(since), until=rfc3339(until)
    )
    changes.record(actor=actor, endpoint=endpoint, fact=fact, at=at)
    jobs.enqueue(CARRY_ON, expires_seconds=jobs.RING_SECONDS)
    return replay


@needs_transaction
def cancel_replay(actor: Actor, replay: Replay, at: datetime) -> Replay:
    """Stop a locked replay. What it has queued so far is delivered all the same.

    :raises InvalidTransition: it has ended.
    """
    if replay.state not in states.REPLAYING:
        raise InvalidTransition("The replay has ended.", state=replay.state, action="cancel")
    replay.state, replay.finished_at = states.CANCELLED, at
    replay.save_version("state", "finished_at", at=at)
    fact = events.ReplayCancelled(replay_id=str(replay.id))
    changes.record(actor=actor, endpoint=replay.endpoint, fact=fact, at=at)
    return replay


def _stretch(data: Mapping[str, Any], at: datetime) -> tuple[datetime, datetime]:
    since: datetime = data["since"]
    until = min(data.get("until") or at, at)
    if since < at - timedelta(days=settings.WEBHOOKS_HISTORY_DAYS):
        text = f"Events are kept for {settings.WEBHOOKS_HISTORY_DAYS} days."
        raise InvalidFields(errors=[FieldError("since", "past_retention", text)])
    if since >= until:
        raise InvalidFields(
            errors=[FieldError("until", "not_after_since", "until lies after since, and since in the past.")]
        )
    return since, until
