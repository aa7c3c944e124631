"""Whose record a Provenance is of: that of the patients of all that it is about.

The compartment of R4 holds those only that name the patient. Source: Bulk Data Access IG 2.0.0, export.html, "Query
Parameters": a server includes each Provenance whose target is in the patient compartment.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from core.arrays import array_literal, numbers
from core.clock import rfc3339
from core.pipeline import Call, Statement, run
from fhir_api.compartments import CONFINED, patients
from fhir_api.reading import read_stored
from fhir_api.references import target
from fhir_api.resources.types import NAMES, NUMBERS
from fhir_api.store import Name

from .batches import Found
from .models import ExportJob

TYPE: Final = "Provenance"
_AT_ONCE: Final = 200

# What a target was at the export's time, or before it was deleted.
_WERE: Final = Statement.of(
    """
SELECT r.type, r.fhir_id, coalesce(CASE WHEN r.last_updated <= $4::timestamptz THEN r.body END, (
    SELECT v.body FROM fhir_api_resourceversion v
    WHERE v.tenant_id = $1 AND v.type = r.type AND v.fhir_id = r.fhir_id AND v.last_updated <= $4::timestamptz
      AND v.body IS NOT NULL ORDER BY v.version DESC LIMIT 1))
FROM fhir_api_resource r
JOIN unnest($2::smallint[], $3::text[] COLLATE "C") AS wanted (type, fhir_id)
  ON r.type = wanted.type AND r.fhir_id = wanted.fhir_id
WHERE r.tenant_id = $1"""
)


def patients_of_targets(job: ExportJob, found: Iterable[Found]) -> Iterator[tuple[Found, frozenset[str]]]:
    """Each Provenance with the ids of the patients in whose compartments its targets are."""
    named = [(one, frozenset(_targets(one.body))) for one in found]
    whose = _whose(job, {name for _, names in named for name in names})
    for one, names in named:
        found_in = frozenset(patient for name in names for patient in whose.get(name, ()))
        yield replace(one, whose=found_in), found_in


def _targets(body: bytes) -> Iterator[Name]:
    for reference in read_stored(body)["target"] if body else ():
        found = target(reference.get("reference") or "")
        if found and found[0] in CONFINED:
            yield found


def _whose(job: ExportJob, names: set[Name]) -> Mapping[Name, frozenset[str]]:
    whose = {name: frozenset({name[1]}) for name in names if name[0] == "Patient"}
    others = sorted(names - whose.keys())
    for start in range(0, len(others), _AT_ONCE):
        some = others[start : start + _AT_ONCE]
        kinds, ids = numbers(NUMBERS[kind] for kind, _ in some), array_literal(fhir_id for _, fhir_id in some)
        (rows,) = run([Call(_WERE, [str(job.tenant_id), kinds, ids, rfc3339(job.transaction_time)])])
        for n in range(len(rows)):
            kind, fhir_id, body = rows.row(n)
            name = NAMES[int(kind or 0)], (fhir_id or b"").decode()
            whose[name] = patients(name[0], read_stored(body)) if body else frozenset()
    return whose
