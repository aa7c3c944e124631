"""The clinical rules, registered by code. Source: contract, prescriptions.md, "Clinical validation"."""

from . import (
    allergies,
    doses,
    duplicates,
    interactions,
    patients,
    prescribers,
    quantities,
    routes,
    schedules,
)
from .registry import RULES, ClinicalRule

MODULES = (allergies, doses, duplicates, interactions, patients, prescribers, quantities, routes, schedules)

__all__ = ["MODULES", "RULES", "ClinicalRule"]
