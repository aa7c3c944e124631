"""Reads of the clinical record by other apps: named resources, and what a rule needs to know of one patient.

Source: contract, fhir.md, "The door".
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from core.actor import Actor, SubjectKind
from core.arrays import numbers
from core.db import run_bound
from core.pipeline import Call, Rows, Statement

from . import compartments
from .access.patients import patients_of
from .access.records import COLUMNS, NOTED, Access, record, values
from .definitions.facts import PATIENTS_TYPES
from .definitions.parameters import PARAMETERS
from .indexing import FOUND_BY_PATIENT_AND_CODE
from .keys import patients_code_key, reference_key, system_code_key, target_key
from .reading import read_stored
from .resources import Json
from .resources.types import NUMBERS
from .smart import READ, UNNARROWED, OutsideScopes, access_of
from .smart import Access as Rights
from .statements import VERSION_COLUMNS, numbered
from .store import Name, Version, version_of
from .store.reads import named_call

READ_SCOPE: Final = "healthcare.read"
VALIDATION: Final = "validation"

NEWEST: Final = 50  # resources of each code

# The first parameters are those of the access record.
_FIRST: Final = COLUMNS + 1
_TENANT: Final = f"${_FIRST}::uuid"
_NUMBERS_OF_PATIENT: Final = f"""
    SELECT whose.id FROM unnest(${_FIRST + 1}::smallint[]) AS wanted (type) CROSS JOIN LATERAL (
      SELECT f.id FROM fhir_api_resource f
      WHERE f.tenant_id = {_TENANT} AND f.type = wanted.type AND f.fhir_id = ${_FIRST + 2} OFFSET 0) AS whose
    UNION ALL SELECT p.resource_id FROM fhir_api_posting p WHERE p.tenant_id = {_TENANT} AND p.key = ANY(${_FIRST + 3}::bigint[])
    UNION ALL SELECT newest.resource_id FROM unnest(${_FIRST + 4}::bigint[]) AS asked (key) CROSS JOIN LATERAL (
      SELECT p.resource_id FROM fhir_api_posting p WHERE p.tenant_id = {_TENANT} AND p.key = asked.key
      ORDER BY p.sort_date DESC, p.resource_id DESC LIMIT {NEWEST}) AS newest"""
_OF_PATIENT: Final = Statement.of(
    f"""
WITH found (id, type, fhir_id, version, last_updated, method, sort_date, body) AS MATERIALIZED (
  SELECT {VERSION_COLUMNS} FROM {numbered(_NUMBERS_OF_PATIENT, tenant=_TENANT, where="AND NOT o.deleted")}),
{NOTED.format(count="(SELECT count(*) FROM found)")}
SELECT * FROM found ORDER BY type, sort_date DESC, id DESC
"""
)


@dataclass(frozen=True, slots=True)
class Shown:
    """The current version of a resource as other apps see it; `body` is what a read of FHIR answers."""

    type: str
    id: str
    version: int
    last_updated: datetime
    body: bytes

    @classmethod
    def of(cls, version: Version) -> "Shown":
        """Make it of a version that is not a deletion."""
        assert version.body is not None
        return cls(version.type, version.fhir_id, version.version, version.last_updated, version.body)

    @property
    def name(self) -> Name:
        """Type and id."""
        return self.type, self.id

    def resource(self) -> Json:
        """Read the body; decimals keep their digits."""
        return read_stored(self.body)


def read(actor: Actor, names: Iterable[Name], *, for_rules: bool = False) -> dict[Name, Shown]:
    """Read the current versions of named resources; each read of patients' data leaves an access record.

    What does not exist, was deleted, belongs to another tenant or is beyond the one patient of the actor's token is left
    out, all alike. With `for_rules` the platform itself must know, whatever the caller may see: nothing that is read may
    be shown to him, and the records say `validation`.

    :raises OutsideScopes: the actor may not read resources of one of the types.
    """
    wanted = sorted(set(names))
    rights = UNNARROWED if for_rules else _rights(actor, {kind for kind, _ in wanted})
    if not wanted:
        return {}
    (rows,) = run_bound(actor.tenant_id, [named_call(actor.tenant_id, wanted)])
    versions = {version.name: version for version in _versions(rows)}
    seen = {name: Shown.of(version) for name, version in versions.items() if _is_seen(version, rights)}
    interaction = VALIDATION if for_rules else "read"
    record(actor, *(_access(interaction, name, seen.get(name), versions.get(name)) for name in wanted))
    return seen


@dataclass(frozen=True, slots=True)
class Lookup:
    """Named resources that the platform itself must know, whatever the caller may see; the statements join another trip.

    `calls` are to be sent with the tenant bound; `found`, or `resources_of`, takes their rows. Nothing that is read may be
    shown to the caller.
    """

    calls: tuple[Call, ...]

    @property
    def width(self) -> int:
        """How many results the statements have."""
        return len(self.calls)

    def found(self, rows: Sequence[Rows]) -> dict[Name, Shown]:
        """Return the resources that exist, by type and id."""
        versions = [version for one in rows for version in _versions(one)]
        return {version.name: Shown.of(version) for version in versions if version.body is not None}


def resources_of(rows: Rows) -> dict[str, list[Json]]:
    """Return what a statement of a `Lookup` has found by type, in the order in which it was read."""
    by_type: dict[str, list[Json]] = {}
    for version in _versions(rows):
        if version.body is not None:
            by_type.setdefault(version.type, []).append(read_stored(version.body))
    return by_type


def projected(tenant_id: UUID, names: Iterable[Name]) -> dict[Name, bytes]:
    """Return the bodies of resources that another app projects, to prove that they agree with its rows.

    The tenant is bound by the caller. Nobody is shown them, so no read is recorded.
    """
    wanted = sorted(set(names))
    if not wanted:
        return {}
    (rows,) = run_bound(tenant_id, [named_call(tenant_id, wanted)])
    return {version.name: version.body for version in _versions(rows) if version.body is not None}


def lookup(actor: Actor, names: Iterable[Name]) -> Lookup:
    """Look up named resources in a trip of the caller's own; as `read` with `for_rules`, but in statements to be sent.

    Patients are read one by one, each with an access record `validation`, also where there is none; other types must
    not hold patients' data.

    :raises ValueError: a type other than Patient belongs to patients.
    """
    wanted = sorted(set(names))
    others = [name for name in wanted if name[0] != "Patient"]
    if strange := sorted({kind for kind, _ in others} & PATIENTS_TYPES):
        raise ValueError(f"types of a patient's record: {strange}")
    calls = [_of_patient_call(actor, fhir_id, ["Patient"], {}) for kind, fhir_id in wanted if kind == "Patient"]
    return Lookup((*calls, *([named_call(actor.tenant_id, others)] if others else ())))


def patient_lookup(
    actor: Actor, patient_id: str, types: Collection[str], codes: Mapping[str, Collection[str]] | None = None
) -> Lookup:
    """Look up what `of_patient` reads, in a trip of the caller's own; resources of a type are the newest first.

    :raises ValueError: a type does not belong to patients, or is not found by its codes.
    """
    return Lookup((_of_patient_call(actor, patient_id, types, dict(codes or {})),))


def of_patient(
    actor: Actor, patient_id: str, types: Collection[str], codes: Mapping[str, Collection[str]] | None = None
) -> list[Shown]:
    """Read what the record holds of one patient, for rules of the platform: whatever the caller's own scopes.

    The current versions of resources of the `types` whose patient he is, and he himself if `Patient` is one of them, the
    newest of each type first. `codes` narrows a type to the newest `NEWEST` resources of each of its codes, which are
    `system|code`.
    One trip; it leaves one access record with the interaction `validation`, also where nothing is found.

    :raises ValueError: a type does not belong to patients, or is not found by its codes.
    """
    (rows,) = run_bound(actor.tenant_id, [_of_patient_call(actor, patient_id, types, dict(codes or {}))])
    return [Shown.of(version) for version in _versions(rows)]


def _of_patient_call(
    actor: Actor, patient_id: str, types: Collection[str], narrowed: Mapping[str, Collection[str]]
) -> Call:
    """Make the statement of `of_patient`.

    :raises ValueError: a type does not belong to patients, or is not found by its codes.
    """
    if strange := (set(types) - PATIENTS_TYPES) | (set(narrowed) - set(types)):
        raise ValueError(f"not types of a patient's record that were asked for: {sorted(strange)}")
    others = [name for name in types if name != "Patient"]
    read = Access(VALIDATION, parameters=["patient", *(["code"] if narrowed else [])], patients=[patient_id])
    parameters = [
        *values(actor, read),
        str(actor.tenant_id),
        numbers(NUMBERS[name] for name in types if name == "Patient"),
        patient_id,
        patient_keys(patient_id, (name for name in others if name not in narrowed)),
        numbers(_code_key(name, patient_id, code) for name, some in narrowed.items() for code in some),
    ]
    return Call(_OF_PATIENT, parameters)


def codings_sql(keys: str, *paths: str) -> str:
    """Return a query of the codings that a patient's resources of tenant $1 have at JSON paths: system, code.

    `keys` is the parameter that holds what `patient_keys` returns. It is for a statement that looks the codes up; nothing of
    it may be shown to the caller, and the trip that sends it reads the same resources by `patient_lookup`, which records it.
    """
    wanted = ", ".join(f"'{path}.coding[*]'" for path in paths)
    found = f"SELECT p.resource_id FROM fhir_api_posting p WHERE p.tenant_id = $1 AND p.key = ANY({keys}::bigint[])"
    return (
        "SELECT c.coding ->> 'system', c.coding ->> 'code' FROM"
        f" {numbered(found, where='AND NOT o.deleted')}"
        " CROSS JOIN LATERAL (SELECT r.body::jsonb OFFSET 0) AS b (content)"  # read once, whatever the number of paths
        f" CROSS JOIN LATERAL unnest(ARRAY[{wanted}]::jsonpath[]) AS p (path)"
        " CROSS JOIN LATERAL jsonb_path_query(b.content, p.path) AS c (coding)"
    )


def patient_keys(patient_id: str, types: Iterable[str]) -> str:
    """Return the parameter of `codings_sql` for a patient's resources of the types."""
    return numbers(_patient_key(name, patient_id) for name in types)


def _versions(rows: Rows) -> list[Version]:
    return [version_of(rows, number) for number in range(len(rows))]


def _rights(actor: Actor, types: Iterable[str]) -> Rights:
    """What the actor may be shown; the platform itself, all.

    :raises OutsideScopes: one of the types is not among it.
    """
    if actor.subject.kind is SubjectKind.SYSTEM:
        return UNNARROWED
    if not actor.may(READ_SCOPE):
        raise OutsideScopes(f"This needs the scope {READ_SCOPE}.")
    rights = access_of(actor)
    for name in sorted(types):
        rights.demand(name, READ)
    return rights


def _is_seen(version: Version, rights: Rights) -> bool:
    if version.body is None:
        return False
    return not rights.patient or compartments.holds(rights.patient, version.type, read_stored(version.body))


def _access(interaction: str, name: Name, shown: Shown | None, version: Version | None) -> Access:
    """The record of one named resource, as a read of FHIR leaves it."""
    if shown is None:
        gone = version is not None and version.body is None
        return Access(interaction, *name, outcome=410 if gone else 404)
    return Access(interaction, *name, patients=patients_of([(*name, shown.body)]), count=1)


def _patient_key(type_name: str, patient_id: str) -> int:
    """The key of postings under which resources of a type name the patient whose they are."""
    return reference_key(PARAMETERS[type_name, "patient"].number, target_key("Patient", patient_id))


def _code_key(type_name: str, patient_id: str, text: str) -> int:
    """The key of postings under which resources of a type name the patient whose they are, and a code.

    :raises ValueError: the type is not found so.
    """
    if type_name not in FOUND_BY_PATIENT_AND_CODE:
        raise ValueError(f"a {type_name} is not found by patient and code")
    system, _, code = text.rpartition("|")
    number = PARAMETERS[type_name, "code"].number
    return patients_code_key(target_key("Patient", patient_id), system_code_key(number, system, code))
