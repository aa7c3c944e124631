"""The door of the clinical record: what other apps may use. Everything else in here is private."""

from .access.records import Access, record_read
from .owners import Owner, own
from .past_versions import PastVersion, past_versions
from .projections.actions import project
from .queries import Lookup, Shown, lookup, of_patient, patient_lookup, read

__all__ = [
    "Access",
    "Lookup",
    "Owner",
    "PastVersion",
    "Shown",
    "lookup",
    "of_patient",
    "own",
    "past_versions",
    "patient_lookup",
    "project",
    "read",
    "record_read",
]
