"""The way into the record for what apps of the platform produce."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from core import watermark
from core.actor import Actor
from core.db import needs_transaction
from fhir_api.conditions import address
from fhir_api.intentions import Write
from fhir_api.queries import Shown
from fhir_api.resources import Json
from fhir_api.store.models import Method
from fhir_api.writes import carry_out, gathered


@needs_transaction
def project(
    actor: Actor, resources: Sequence[Json], *, at: datetime, made: Collection[str] = (), validated: bool = False
) -> list[Shown]:
    """Write resources of an app in the transaction of its change, with the tenant bound; the current versions, in order.

    Each resource has the id that the app gave it. What it refers to is held until the transaction ends, one fact tells of
    each version, and a resource whose content is as it was has no new one. A version is never older than the moment at
    which feeds learn of the write, so that nobody who follows one misses it. `made` are ids that the app has made just now:
    no resource can have one, so these are not looked for. `validated` is for what the app has made in the same way from
    the same content before: validating costs as much as all the rest.

    :raises fhir_api.outcomes.InvalidResource: a resource breaks rules of FHIR.
    :raises fhir_api.intentions.ReferenceNotFound: it refers to what is not there, and the tenant's policy forbids that.
    """
    if not resources:
        return []
    writes = [
        Write(Method.PUT, one["resourceType"], one["id"], resource=one, projected=True, validated=validated)
        for one in resources
    ]
    moment = max(at, watermark.begin(actor.tenant_id))
    # A token that is bound to one patient narrows what its holder writes, not what the platform tells of it.
    unbound = replace(actor, subject=replace(actor.subject, patient=""))
    addressed = [replace(one, fresh=one.fhir_id in made) for one in address(unbound, writes)]
    done = gathered(addressed, carry_out(unbound, addressed, at=moment))
    return [Shown.of(one.version) for one in done if one.version]
