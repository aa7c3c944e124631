"""The models of all feature folders, imported here because Django looks for them here."""

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

__all__ = [
    "IncomingRow",
    "PlatformAllergyTerm",
    "PlatformDose",
    "PlatformInteraction",
    "PlatformMedication",
    "PlatformMedicationWord",
    "PlatformTableVersion",
    "TenantAllergyTerm",
    "TenantDose",
    "TenantInteraction",
    "TenantMedication",
    "TenantMedicationWord",
    "TenantTableVersion",
]
