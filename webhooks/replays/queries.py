"""Reads of replays that are more than a listing."""

from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import NotFound
from webhooks.models import Endpoint, Replay


@needs_transaction
def locked_replay(actor: Actor, endpoint: Endpoint, replay_id: UUID) -> Replay:
    """Read one replay of a locked endpoint and hold it until the transaction ends.

    :raises NotFound: absent, or of another endpoint.
    """
    found: Replay | None = Replay.objects.of(actor).filter(endpoint=endpoint, id=replay_id).select_for_update().first()
    if found is None:
        raise NotFound("No such webhook replay.")
    return found
