"""Recording of one change for several tenants: one fact for each audience, in one trip.

Each fact has its own `tenant_id`, sequence and webhook message. The fact in the acting tenant says who acted. The fact in
another tenant has the platform as its subject and a request id that the platform makes, so that no subject, credential
or request id of one party reaches the ledger or the webhooks of the other. Source: contract, supply.md 3.4.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from core import pipeline
from core.actor import Actor, system_actor
from core.db import bind_call, needs_transaction
from core.ids import uuid7_text
from core.pipeline import Call

from . import recording, registry
from .recording import Occurrence
from .registry import Fact

BY = "by"


class SideMissing(ValueError):
    """An event for another tenant does not say in `by` which side acted; a programming error."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Facts for several tenants: `calls` are sent in one trip, then `react` runs what follows from them.

    The calls bind the tenants in the order of their ids, and leave the last one bound. The order is the same in every
    transaction, so that writers never wait for one another in a circle.
    """

    facts: Mapping[UUID, Sequence[Fact]]

    @property
    def calls(self) -> list[Call]:
        """The statements that record all facts."""
        return [call for tenant_id, facts in self._in_order() for call in _bound(tenant_id, facts)]

    @property
    def is_followed(self) -> bool:
        """Tell whether something reacts to one of the facts."""
        return any(True for facts in self.facts.values() for _ in registry.reactions(facts))

    def react(self) -> None:
        """Run the reactions, each bound to the tenant of its facts; the last of these tenants stays bound."""
        for tenant_id, facts in self._in_order():
            for handler, wanted in registry.reactions(facts):
                pipeline.run([bind_call(tenant_id)])
                handler(wanted)

    def _in_order(self) -> Iterator[tuple[UUID, Sequence[Fact]]]:
        return ((tenant_id, self.facts[tenant_id]) for tenant_id in sorted(self.facts) if self.facts[tenant_id])


@needs_transaction
def record_for(
    told: Mapping[UUID, Sequence[Occurrence]], *, actor: Actor, at: datetime
) -> Mapping[UUID, Sequence[Fact]]:
    """Record what each tenant is told of one change, in one trip; afterwards the actor's tenant is bound.

    :raises SideMissing: an event for a tenant other than the actor's has no `by` in its payload.
    :raises UnknownEventType: the class of an event is not registered.
    """
    made = recording_for(told, actor=actor, at=at)
    pipeline.run([*made.calls, bind_call(actor.tenant_id)])
    if made.is_followed:
        made.react()
        pipeline.run([bind_call(actor.tenant_id)])
    return made.facts


@needs_transaction
def recording_for(told: Mapping[UUID, Sequence[Occurrence]], *, actor: Actor, at: datetime) -> Recording:
    """Return the recording of `record_for`, for an action that sends its statements in one trip with its own.

    :raises SideMissing, UnknownEventType: as in `record_for`.
    """
    return Recording({tenant_id: _facts(tenant_id, found, actor, at) for tenant_id, found in told.items()})


def _facts(tenant_id: UUID, occurrences: Sequence[Occurrence], actor: Actor, at: datetime) -> list[Fact]:
    own = tenant_id == actor.tenant_id
    who = actor if own else system_actor(tenant_id, request_id=uuid7_text())
    facts = [recording.fact_of(who, one.event, one.resource_id, at, one.resource_version) for one in occurrences]
    for fact in facts:
        if not own and not fact.data.get(BY):
            raise SideMissing(fact.type)
    return facts


def _bound(tenant_id: UUID, facts: Sequence[Fact]) -> Iterator[Call]:
    yield bind_call(tenant_id)
    yield from recording.calls_of(facts)
