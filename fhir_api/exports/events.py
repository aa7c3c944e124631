"""Facts about exports: who asked for one and what became of it. What was fetched is told by the access log."""

from dataclasses import dataclass
from typing import ClassVar

from ledger.public import EventType, register


@dataclass(frozen=True)
class _ExportFact(EventType):
    resource: ClassVar[str] = "fhir_export"
    href: ClassVar[str] = "/fhir/R4/_export/{id}"

    level: str


@register
@dataclass(frozen=True)
class ExportRequested(_ExportFact):
    """Somebody asked for a bulk export of the clinical record."""

    type: ClassVar[str] = "fhir_export.requested"

    types: list[str]


@register
@dataclass(frozen=True)
class ExportCompleted(_ExportFact):
    """The files of a bulk export can be fetched until they expire."""

    type: ClassVar[str] = "fhir_export.completed"

    exported: int
    expires_at: str


@register
@dataclass(frozen=True)
class ExportFailed(_ExportFact):
    """A bulk export was given up; there are no files."""

    type: ClassVar[str] = "fhir_export.failed"
    href: ClassVar[str] = ""

    reason: str


@register
@dataclass(frozen=True)
class ExportCancelled(_ExportFact):
    """A bulk export was stopped, or its files were no longer wanted; they are deleted."""

    type: ClassVar[str] = "fhir_export.cancelled"
    href: ClassVar[str] = ""
