"""Lists of codes: closed in requests, open in answers. Source: contract, prescriptions.md "Code lists"."""

from typing import Final

OTHER: Final = "other"
UNSPECIFIED: Final = "unspecified"
ENTERED_IN_ERROR: Final = "entered_in_error"

CANCEL: Final = (
    "prescribing_error", "clinical_contraindication", "treatment_change", "clinical_grounds", "patient_request",
    "pharmacist_request", "patient_deceased", "patient_moved", "duplicate", ENTERED_IN_ERROR, UNSPECIFIED, OTHER,
)  # fmt: skip
RETURN: Final = (
    "out_of_stock", "not_stocked", "patient_request", "clinical_query", "illegible_or_invalid", "wrong_pharmacy", OTHER,
)  # fmt: skip
REVERSE: Final = (
    "not_collected", "wrong_item", "wrong_quantity", "wrong_patient", "returned_by_patient", ENTERED_IN_ERROR, OTHER,
)  # fmt: skip
NOT_DISPENSED: Final = (
    "out_of_stock", "clinically_unsuitable", "owings_not_collected", "prescription_cancellation", "patient_refused",
    "expired_item", OTHER,
)  # fmt: skip
OVERRIDE: Final = (
    "benefit_outweighs_risk", "tolerated_before", "monitoring_in_place", "dose_intended", "no_alternative",
    "record_wrong", "patient_informed", OTHER,
)  # fmt: skip
DENIED: Final = ("patient_unknown", "not_under_care", "too_soon", "appointment_needed", "contraindicated", OTHER)

# v3-ActSubstanceAdminSubstitutionCode; therapeutic exchange is known, and refused when it is used.
SUBSTITUTION: Final = ("E", "EC", "BC", "G", "F", "N")
THERAPEUTIC: Final = ("TE", "TB", "TG")
SUBSTITUTION_REASON: Final = ("CT", "FP", "OS", "RR")
