"""What a token that is bound to one patient may write: his compartment, before and after, and nobody else's.

What it may not see is as if it were not there: the same answers, the same order of checks, no version in a header. Since an id
that a client chooses could be another patient's, such a token creates under ids of the server only.
"""

from collections.abc import Iterable, Mapping
from uuid import UUID

from core.errors import Forbidden
from core.pipeline import run

from . import compartments
from .intentions import Addressed
from .reading import read_stored
from .resources import Json
from .store import Name, NoSuchResource, Version
from .store.models import Method
from .store.reads import last_body_call


class OutsideCompartment(Forbidden):
    """The token is bound to a patient, and the resource is not his alone: before the write, or after it."""

    code = "outside_compartment"
    title = "The token reaches one patient's compartment only."


def seen(tenant_id: UUID, patient: str, current: Mapping[Name, Version]) -> dict[Name, Version]:
    """Those of the locked versions that the patient may see; a deleted resource is judged by what it was."""
    gone = [name for name, version in current.items() if version.body is None]
    rows = run([last_body_call(tenant_id, *name) for name in gone]) if gone else []
    last = {name: found.value() for name, found in zip(gone, rows, strict=True)}
    return {
        name: version
        for name, version in current.items()
        if (body := version.body or last.get(name)) and compartments.holds(patient, name[0], read_stored(body))
    }


def check_ids(addressed: Iterable[Addressed], current: Mapping[Name, Version]) -> None:
    """Refuse to create under an id that the client chose.

    :raises NoSuchResource: as for a resource of another patient.
    """
    for one in addressed:
        if one.write.method is Method.PUT and not one.fresh and one.name not in current:
            raise NoSuchResource(expression=one.write.place)


def check_change(patient: str, addressed: Addressed, before: Version | None, after: Json | None) -> None:
    """Refuse a change of what is not the patient's alone.

    :raises OutsideCompartment: before it, or after it.
    """
    type_name, fhir_id = addressed.name
    stored = read_stored(before.body) if before and before.body else None
    for resource in filter(None, (stored, after)):
        if not _is_his(patient, type_name, {**resource, "id": fhir_id}):
            raise OutsideCompartment(expression=addressed.write.place, issue_type="forbidden")


def _is_his(patient: str, type_name: str, resource: Json) -> bool:
    """A resource that names two patients is in the compartments of both, and to be written by neither alone."""
    if type_name == "Patient":
        return bool(resource["id"] == patient)
    return compartments.patients(type_name, resource) == {patient}
