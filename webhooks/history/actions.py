"""Taking back what an event said, although the log is append-only."""

from datetime import datetime

from django.db import connection

from core.actor import Actor
from core.db import needs_transaction
from ledger import public as ledger
from webhooks.envelope import message_id
from webhooks.models import Event

from .events import EventExpunged


@needs_transaction
def expunge(*, actor: Actor, event: Event, at: datetime) -> int:
    """Empty every form of an event's body and what receivers wrote back; returns how many forms.

    The tenant's ledger is told first: the database's own function changes nothing without that fact.
    """
    fact = EventExpunged(event_id=message_id(event.id))
    told = ledger.record(actor=actor, event=fact, resource_id=event.id, at=at)
    with connection.cursor() as cursor:
        cursor.execute("SELECT hp_webhooks_expunge(%s, %s)", [told.id, event.created_at])
        return int(cursor.fetchone()[0])
