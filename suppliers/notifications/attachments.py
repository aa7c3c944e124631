"""Files that a message hands over: held against the writer's own, and bound so that they stay. Source: contract, supply-shelf.md "Files"."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from suppliers.files.models import File, FileBinding
from suppliers.files.states import FileStatus, ResourceType, Visibility

MOST_FILES: Final = 20
_SHARED: Final = (Visibility.COUNTERPARTY.value, Visibility.CATALOG.value)


@needs_transaction
def attached(actor: Actor, ids: Sequence[UUID]) -> list[dict[str, Any]]:
    """Lock the files that a message names, and return what the message keeps of each, in their order.

    :raises InvalidFields: a file is none of the tenant's, is not ready, or is private; names each.
    """
    held = File.objects.of(actor).filter(id__in=ids).order_by("id").select_for_update(no_key=True)
    found = {one.id: one for one in held}
    errors = []
    for number, key in enumerate(ids):
        file = found.get(key)
        if file is None:
            errors.append(FieldError(f"file_ids.{number}", "unknown_file", "There is no such file."))
        elif file.status != FileStatus.READY:
            errors.append(FieldError(f"file_ids.{number}", "file_not_ready", "The file is not ready."))
        elif file.visibility not in _SHARED:
            text = "The file is private: give it the visibility counterparty."
            errors.append(FieldError(f"file_ids.{number}", "file_private", text))
    if errors:
        raise InvalidFields(errors=errors)
    return [_kept(found[key]) for key in ids]


@needs_transaction
def bind_to_message(actor: Actor, ids: Sequence[UUID], message_id: UUID, at: datetime) -> None:
    """Bind the files of a message to it: from now on they are evidence, and stay."""
    FileBinding.objects.bulk_create(
        [
            FileBinding(
                tenant_id=actor.tenant_id,
                file_id=key,
                resource_type=ResourceType.MESSAGE.value,
                resource_id=message_id,
                position=number,
                created_at=at,
                updated_at=at,
            )
            for number, key in enumerate(ids)
        ]
    )


def _kept(file: File) -> dict[str, Any]:
    return {"id": str(file.id), "name": file.name, "content_type": file.content_type, "size": file.size}
