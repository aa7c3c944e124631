"""Reads of replays that are more than a listing."""

from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from webhooks.models import Replay
from webhooks.queries import locked_part


@needs_transaction
def locked_replay(actor: Actor, endpoint_id: UUID, replay_id: UUID) -> Replay:
    """Read one replay and hold it and its endpoint, which may be deleted, until the transaction ends.

    :raises NotFound: absent, or of another endpoint.
    """
    rows = Replay.objects.of(actor).filter(id=replay_id)
    found: Replay = locked_part(actor, endpoint_id, rows, name="webhook replay")
    return found
