"""The models of all feature folders, imported here because Django looks for them here."""

from prescriptions.lifecycle.chain_models import AuditEntry, AuditOrigin
from prescriptions.lifecycle.copies import PrescriptionToken, ReceivedPrescription, ReceivedSnapshot
from prescriptions.lifecycle.models import Prescription, PrescriptionCounter, PrescriptionItem, Route
from prescriptions.requests.models import ReceivedRequest

from .dispensing.models import Dispensation, DispensationLine, ReceivedDispensation
from .evidence.models import Checkpoint, CheckpointLeaf, CheckpointNode, Snapshot
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
from .recurring.models import RecurringTreatment
from .requests.models import PrescriptionRequest
from .templates.models import PrescriptionTemplate
from .validation.models import ValidationRun

__all__ = [
    "AuditEntry",
    "AuditOrigin",
    "Checkpoint",
    "CheckpointLeaf",
    "CheckpointNode",
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
