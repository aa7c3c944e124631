"""The door of the clinical record: what other apps may use. Everything else in here is private."""

from .access.models import AccessRecord
from .access.queries import RX_READS, reads_of_patient
from .access.records import Access, record_read
from .owners import Owner, own
from .past_versions import PastVersion, past_versions
from .projections.actions import Held, Projection, ResourcesOf, project, projection
from .queries import (
    Lookup,
    Shown,
    codings_sql,
    lookup,
    of_patient,
    patient_keys,
    patient_lookup,
    projected,
    read,
    resources_of,
)
from .refusals import PatientNotFound

__all__ = [
    "RX_READS",
    "Access",
    "AccessRecord",
    "Held",
    "Lookup",
    "Owner",
    "PastVersion",
    "PatientNotFound",
    "Projection",
    "ResourcesOf",
    "Shown",
    "codings_sql",
    "lookup",
    "of_patient",
    "own",
    "past_versions",
    "patient_keys",
    "patient_lookup",
    "project",
    "projected",
    "projection",
    "read",
    "reads_of_patient",
    "record_read",
    "resources_of",
]
