"""Facts about resources: `fhir.<Type>.created`, `.updated`, `.deleted` for each type.

The ledger names resources by UUID, FHIR by an id of up to 64 characters; how they meet: docs/decisions/0050.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Final
from uuid import UUID, uuid5

from core.actor import Actor
from core.db import needs_transaction
from core.ids import parse_uuid
from core.pipeline import Call
from ledger import public as ledger

from .definitions.facts import PATIENTS_TYPES
from .resources.types import NUMBERS
from .store import Name, Version

CREATED, UPDATED, DELETED = "created", "updated", "deleted"
_STAFF_TYPES = frozenset({"Practitioner", "PractitionerRole"})
_NAMESPACE = UUID("5c1f0a3e-6d2b-4c77-9a54-0f6f4f1c2b10")
_SAYS = {
    CREATED: "A resource of type {} came to be: by create, update, transaction or import.",
    UPDATED: "A resource of type {} has a new version.",
    DELETED: "A resource of type {} was deleted; its history stays.",
}


@dataclass(frozen=True)
class ResourceEvent(ledger.EventType):
    """What happened to a resource; `reference` is how FHIR names it, `version` its version."""

    href: ClassVar[str] = "/fhir/R4/{reference}"

    reference: str = field(metadata={"example": "{type}/{id}"})


def _kind(type_name: str, verb: str) -> type[ResourceEvent]:
    members = {
        "__doc__": _SAYS[verb].format(type_name),
        "__module__": __name__,
        "type": f"fhir.{type_name}.{verb}",
        "resource": type_name,
        "data_class": data_class(type_name),
        "href": "" if verb == DELETED else ResourceEvent.href,
    }
    return ledger.register(type(f"{type_name}{verb.title()}", (ResourceEvent,), members))


def data_class(type_name: str) -> str:
    """What resources of a type hold: `phi`, `personal` (of staff) or `none`."""
    if type_name in PATIENTS_TYPES:
        return "phi"
    return "personal" if type_name in _STAFF_TYPES else "none"


KINDS: Final = {(name, verb): _kind(name, verb) for name in NUMBERS for verb in (CREATED, UPDATED, DELETED)}


@needs_transaction
def facts(actor: Actor, written: Sequence[tuple[str, Version]], at: datetime) -> list[ledger.Fact]:
    """Record what became of resources: pairs of `created`, `updated` or `deleted` and the new version, in one round trip."""
    occurrences = [_occurrence(verb, version.name, version.version) for verb, version in written]
    return ledger.record_many(actor=actor, occurrences=occurrences, at=at)


@needs_transaction
def statements(actor: Actor, coming: Iterable[tuple[str, Name, int]], at: datetime) -> list[Call]:
    """The statements that record the same, for a write that sends them with its own: verb, name and coming version."""
    occurrences = [_occurrence(verb, name, version) for verb, name, version in coming]
    return ledger.statements_of_many(actor=actor, occurrences=occurrences, at=at)


def _occurrence(verb: str, name: Name, version: int) -> ledger.Occurrence:
    type_name, fhir_id = name
    return ledger.Occurrence(
        event=KINDS[type_name, verb](reference=f"{type_name}/{fhir_id}"),
        resource_id=resource_id(type_name, fhir_id),
        resource_version=version,
    )


def resource_id(type_name: str, fhir_id: str) -> UUID:
    """The UUID under which the ledger and receivers of events know a resource: its id where that is a UUID, else made of its name."""
    found = parse_uuid(fhir_id)
    return found if found is not None and str(found) == fhir_id else uuid5(_NAMESPACE, f"{type_name}/{fhir_id}")
