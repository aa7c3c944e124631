"""The models of all feature folders, imported here because Django looks for them here."""

from .dispensing.models import (
    Dispensation,
    DispensationLine,
    PrescriptionToken,
    ReceivedDispensation,
    ReceivedPrescription,
    ReceivedRequest,
    ReceivedSnapshot,
)
from .evidence.models import AuditEntry, AuditOrigin, Checkpoint, CheckpointLeaf, Snapshot
from .medications.models import (
    IncomingRow,
    PlatformAllergyTerm,
    PlatformDose,
    PlatformInteraction,
    PlatformMedication,
    PlatformMedicationWord,
    PlatformTableVersion,
    TenantAllergyTerm,
    TenantDose,
    TenantInteraction,
    TenantMedication,
    TenantMedicationWord,
    TenantTableVersion,
)
from .prescribing.models import Prescription, PrescriptionCounter, PrescriptionItem, Route
from .recurring.models import RecurringTreatment
from .requests.models import PrescriptionRequest
from .templates.models import PrescriptionTemplate
from .validation.models import ValidationRun

__all__ = [
    "AuditEntry",
    "AuditOrigin",
    "Checkpoint",
    "CheckpointLeaf",
    "Dispensation",
    "DispensationLine",
    "IncomingRow",
    "PlatformAllergyTerm",
    "PlatformDose",
    "PlatformInteraction",
    "PlatformMedication",
    "PlatformMedicationWord",
    "PlatformTableVersion",
    "Prescription",
    "PrescriptionCounter",
    "PrescriptionItem",
    "PrescriptionRequest",
    "PrescriptionTemplate",
    "PrescriptionToken",
    "ReceivedDispensation",
    "ReceivedPrescription",
    "ReceivedRequest",
    "ReceivedSnapshot",
    "RecurringTreatment",
    "Route",
    "Snapshot",
    "TenantAllergyTerm",
    "TenantDose",
    "TenantInteraction",
    "TenantMedication",
    "TenantMedicationWord",
    "TenantTableVersion",
    "ValidationRun",
]
