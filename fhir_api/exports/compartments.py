"""Which resources of a batch belong to the patients whom an export is of."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from fhir_api.compartments import patients
from fhir_api.reading import read_stored

from . import provenance, states
from .batches import Found
from .models import ExportJob

# As the store writes references; a body without any of the patients need not be read in full.
_MENTIONED: Final = re.compile(rb"Patient/([A-Za-z0-9\-.]{1,64})")


def of_patients(job: ExportJob, type_name: str, found: Iterable[Found]) -> Iterator[Found]:
    """Those that are, or were at last, in the compartment of a patient whom the export is of, and of nobody else's.

    A Patient counts by its own id, whomever it links to. Source: Bulk Data Access IG 2.0.0, export.html, "patient": a server
    returns nothing of compartments of patients outside of the list.
    """
    if job.level == states.SYSTEM:
        yield from found
        return
    chosen = None if job.patients is None else frozenset(job.patients)
    for one, named in _named(job, type_name, found, chosen):
        if named and (chosen is None or named <= chosen):
            yield one


def _named(
    job: ExportJob, type_name: str, found: Iterable[Found], chosen: frozenset[str] | None
) -> Iterator[tuple[Found, frozenset[str]]]:
    """Resources with the patients whose they are; those that cannot be of anybody chosen are left out, or without."""
    if type_name == provenance.TYPE:
        yield from provenance.patients_of_targets(job, found)
        return
    for one in found:
        if type_name == "Patient":
            yield one, frozenset({one.fhir_id})
        elif chosen is None or not chosen.isdisjoint(name.decode() for name in _MENTIONED.findall(one.body)):
            yield one, patients(type_name, read_stored(one.body)) if one.body else frozenset()
