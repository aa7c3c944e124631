"""What every write to an endpoint shares: who did it, the next version, the fact."""

from datetime import datetime

from core.actor import Actor, SubjectKind
from ledger import public as ledger

from .models import Endpoint


def name_of(actor: Actor) -> str:
    """Name who acts, for people who read it later: the key, the person or the service."""
    subject = actor.subject
    if subject.credential.startswith("key:"):
        return subject.credential
    return "platform" if subject.kind is SubjectKind.SYSTEM else f"{subject.kind}:{subject.id}"


def change(
    *, actor: Actor, endpoint: Endpoint, fact: ledger.EventType, at: datetime, names: tuple[str, ...] = ()
) -> None:
    """Save the named fields of a locked endpoint as its next version, and record the fact."""
    endpoint.save_version(*names, at=at)
    record(actor=actor, endpoint=endpoint, fact=fact, at=at)


def record(*, actor: Actor, endpoint: Endpoint, fact: ledger.EventType, at: datetime) -> None:
    """Record a fact about an endpoint that stays as it is."""
    ledger.record(actor=actor, event=fact, resource_id=endpoint.id, at=at, resource_version=endpoint.version)
