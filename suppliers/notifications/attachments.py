"""Files that a message hands over. Source: contract, supply-order.md 5 and supply-shelf.md "File"."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.pipeline import Call, run
from suppliers.files.handing_over import Handed, binding_calls, check_files, files_calls
from suppliers.files.states import ResourceType

_MEMBER = "file_ids"


@needs_transaction
def attached(actor: Actor, ids: Sequence[UUID]) -> list[Handed]:
    """Lock and return the files that a message names, in their order.

    :raises InvalidFields: as `check_files`.
    """
    named = {_MEMBER: ids}
    calls = files_calls(actor.tenant_id, named)
    found = check_files(named, run(calls) if calls else [])
    return [found[key] for key in ids]


def message_binding_calls(actor: Actor, ids: Sequence[UUID], message_id: UUID, at: datetime) -> list[Call]:
    """Return the statement that binds the files of a message to it: from now on they are evidence, and stay."""
    return binding_calls(actor.tenant_id, {_MEMBER: ids}, ResourceType.MESSAGE.value, message_id, at)
