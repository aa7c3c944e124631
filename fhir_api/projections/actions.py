"""The way into the record for what apps of the platform produce."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from core import clock, watermark
from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.pipeline import Call, Rows, Statement
from fhir_api import store
from fhir_api.conditions import address
from fhir_api.intentions import Write
from fhir_api.queries import Shown
from fhir_api.resources import Json
from fhir_api.resources.types import NUMBERS
from fhir_api.statements import VERSION_COLUMNS, numbered
from fhir_api.store import Name, Version
from fhir_api.store.models import Method
from fhir_api.writes import Addressed, Pending, carry_out, decide, gathered


@dataclass(frozen=True, slots=True)
class Held:
    """The start of a write of resources: the moment after its mark, and the current versions that it has locked.

    A version is never older than that moment, at which feeds learn of the write, so that nobody who follows one misses it.
    """

    moment: datetime
    versions: Mapping[Name, Version] = field(default_factory=dict)


class ResourcesOf:
    """The resources of one type that rows of an app stand for, to be locked in the trip that locks the rows.

    `ids` is SQL that selects their ids as text, of the rows of tenant $1 that belong to the documents $2, an array of uuid.
    """

    def __init__(self, type_name: str, ids: str) -> None:
        found = (
            f"SELECT one.id FROM ({ids}) AS wanted (fhir_id) CROSS JOIN LATERAL (SELECT f.id FROM fhir_api_resource f"
            f" WHERE f.tenant_id = $1 AND f.type = {NUMBERS[type_name]} AND f.fhir_id = wanted.fhir_id OFFSET 0) AS one"
        )
        rows = numbered(found, lock="FOR NO KEY UPDATE")
        self._locked = Statement.of(f"SELECT {VERSION_COLUMNS} FROM {rows} ORDER BY r.id")

    def hold_calls(self, tenant_id: UUID, documents: Collection[UUID]) -> list[Call]:
        """Return the statements that lock the current versions and mark the start of the write; `held` takes their rows."""
        keys = [str(tenant_id), array_literal(str(one) for one in documents)]
        return [Call(self._locked, keys), watermark.mark_call(tenant_id)]

    def held(self, rows: Sequence[Rows]) -> Held:
        """Read what `hold_calls` answered."""
        found, _ = rows
        return Held(clock.now(), store.by_name(found))


@dataclass(frozen=True, slots=True)
class Projection:
    """Resources that are about to be written: `calls` travel with other statements, `check` takes their rows."""

    pending: Pending | None = None

    @property
    def calls(self) -> list[Call]:
        """The statements, in their order, with the tenant bound."""
        return self.pending.calls if self.pending else []

    def check(self, rows: Sequence[Rows]) -> None:
        """Hold what was written against the tenant's policies.

        :raises fhir_api.intentions.ReferenceNotFound: a resource refers to what is not there.
        """
        if self.pending:
            self.pending.written(rows)


@needs_transaction
def project(actor: Actor, resources: Sequence[Json], *, at: datetime) -> list[Shown]:
    """Write resources of an app in the transaction of its change, with the tenant bound; the current versions, in order.

    Each resource has the id that the app gave it. What it refers to is held until the transaction ends, one fact tells of
    each version, and a resource whose content is as it was has no new one.

    :raises fhir_api.outcomes.InvalidResource: a resource breaks rules of FHIR.
    :raises fhir_api.intentions.ReferenceNotFound: it refers to what is not there, and the tenant's policy forbids that.
    """
    if not resources:
        return []
    moment = max(at, watermark.begin(actor.tenant_id))
    unbound, addressed = _addressed(actor, resources)
    done = gathered(addressed, carry_out(unbound, addressed, at=moment))
    return [Shown.of(one.version) for one in done if one.version]


@needs_transaction
def projection(
    actor: Actor,
    resources: Sequence[Json],
    *,
    at: datetime,
    held: Held,
    made: Collection[str] = (),
    validated: bool = False,
) -> Projection:
    """Prepare what `project` does, for an app that has begun the write with the lock of its rows and sends the rest with its own.

    Of the resources, those that are not `held` and that are not `made` just now, so that none can have their ids, are
    looked for in a trip of their own. `validated` is for what the app has made in the same way from the same content
    before: validating costs as much as all the rest.

    :raises fhir_api.outcomes.InvalidResource: a resource breaks rules of FHIR.
    """
    if not resources:
        return Projection()
    unbound, addressed = _addressed(actor, resources, made, validated=validated)
    return Projection(decide(unbound, addressed, at=max(at, held.moment), held=held.versions))


def _addressed(
    actor: Actor, resources: Sequence[Json], made: Collection[str] = (), *, validated: bool = False
) -> tuple[Actor, list[Addressed]]:
    """Return the writes with their ids, and who writes them."""
    # A token that is bound to one patient narrows what its holder writes, not what the platform tells of it.
    unbound = replace(actor, subject=replace(actor.subject, patient=""))
    writes = [
        Write(Method.PUT, one["resourceType"], one["id"], resource=one, projected=True, validated=validated)
        for one in resources
    ]
    return unbound, [replace(one, fresh=one.fhir_id in made) for one in address(unbound, writes)]
