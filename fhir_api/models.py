"""All tables of the clinical record, where Django looks for them; each stands with what it is for."""

from .access.models import AccessPatient, AccessRecord
from .exports.models import ExportFile, ExportJob, ExportPart
from .store.models import (
    DateEntry,
    Method,
    PositionEntry,
    Posting,
    QuantityEntry,
    Resource,
    ResourceVersion,
    StringEntry,
)
from .value_sets.models import ValueSet

__all__ = [
    "AccessPatient",
    "AccessRecord",
    "DateEntry",
    "ExportFile",
    "ExportJob",
    "ExportPart",
    "Method",
    "PositionEntry",
    "Posting",
    "QuantityEntry",
    "Resource",
    "ResourceVersion",
    "StringEntry",
    "ValueSet",
]
