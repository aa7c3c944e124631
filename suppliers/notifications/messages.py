"""A message from one party of a document to the other: a row for each, in one transaction. Source: contract, supply-order.md 5."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core import rows
from core.actor import Actor
from core.db import bind_actor_call, bind_call, needs_transaction
from core.ids import uuid7
from core.pipeline import run
from ledger import public as ledger
from suppliers.files.handing_over import received_calls

from .alerts import mails_call
from .attachments import attached, message_binding_calls
from .counters import count_call
from .documents import Correspondence, correspondence
from .events import MessageSent
from .models import Notification
from .reading import read_call
from .states import Kind, Severity, Type


@needs_transaction
def send_message(actor: Actor, data: Mapping[str, Any], at: datetime) -> Notification:
    """Write to the other party of a document; return the writer's own row, which the writer has read.

    Nothing of the writer but the tenant reaches the other side. Lock order: files, notifications, mails, counters, ledger.

    :raises NotFound: the caller does not see the document, or the other party does not see it yet.
    :raises PartyClosed: the other party's tenant is closed.
    :raises InvalidFields: a file cannot be handed over.
    """
    about = correspondence(actor, data["resource"]["type"], data["resource"]["id"])
    handed = attached(actor, data["file_ids"])
    files = [one.as_json() for one in handed]
    own = _row(actor, actor.tenant_id, about, data["body"], files, at)
    theirs = _row(actor, about.other_id, about, data["body"], files, at)
    bound = message_binding_calls(actor, data["file_ids"], own.id, at)
    calls = [*bound, rows.insert(own), read_call(actor, own.id, at), bind_call(about.other_id), rows.insert(theirs)]
    told_of = [one.as_received() for one in handed]
    calls += received_calls(about.other_id, actor.tenant_id, told_of, at, bound_id=about.other_id)
    calls.append(mails_call(about.other_id, [str(theirs.id)], at))
    for tenant_id in sorted((actor.tenant_id, about.other_id)):
        calls += [bind_call(tenant_id), count_call(tenant_id, 1)]
    run([*calls, bind_call(actor.tenant_id)])
    fact = MessageSent(thread_id=str(about.id), about_type=about.type.name, about_id=str(about.id), by=about.by)
    told = {row.tenant_id: [ledger.Occurrence(fact, row.id, 1)] for row in (own, theirs)}
    ledger.record_for(told, actor=actor, at=at)
    run([bind_actor_call(actor)])  # the answer says whether the caller has read it
    return own


def _row(
    actor: Actor, tenant_id: UUID, about: Correspondence, body: str, files: list[dict[str, Any]], at: datetime
) -> Notification:
    is_own = tenant_id == actor.tenant_id
    return Notification(
        id=uuid7(),
        tenant_id=tenant_id,
        created_at=at,
        updated_at=at,
        kind=Kind.MESSAGE.value,
        type=Type.MESSAGE.value,
        severity=Severity.INFO.value,
        title=about.type.title,
        body=body,
        resource_type=about.type.name,
        resource_id=str(about.id),
        thread_id=about.id,
        from_tenant_id=actor.tenant_id,
        sender_id=actor.subject_id if is_own else None,
        location_id=about.own_location_id if is_own else about.other_location_id,
        files=files,
    )
