"""Codes of the clinical record that rules know by themselves, each with its source; drugs stand in the tables."""

from typing import Final

Code = tuple[str, str]  # system, code

SNOMED: Final = "http://snomed.info/sct"
LOINC: Final = "http://loinc.org"
RXNORM: Final = "http://www.nlm.nih.gov/research/umls/rxnorm"
ICD10: Final = frozenset({"http://hl7.org/fhir/sid/icd-10", "http://hl7.org/fhir/sid/icd-10-cm"})
IPS_ABSENT: Final = "http://hl7.org/fhir/uv/ips/CodeSystem/absent-unknown-uv-ips"


def _snomed(*codes: str) -> frozenset[Code]:
    return frozenset((SNOMED, code) for code in codes)


def _loinc(*codes: str) -> frozenset[Code]:
    return frozenset((LOINC, code) for code in codes)


# Source: HL7 International Patient Summary, value set absent-or-unknown.
NO_KNOWN_ALLERGY: Final = _snomed("716186003", "409137002") | frozenset(
    (IPS_ABSENT, code) for code in ("no-known-allergies", "no-known-medication-allergies")
)

# Source: FHIR R4 profile bodyweight.
BODY_WEIGHT: Final = _loinc("29463-7")

# Source: HL7 CPG, value set ckd-valueset-egfr (MDRD); LOINC 62238-1 and 98979-8 (CKD-EPI 2009 and 2021).
EGFR: Final = _loinc("33914-3", "48642-3", "48643-1", "62238-1", "98979-8", "69405-9", "77147-7")
# Source: KDIGO 2012: below 60 mL/min/1.73 m2 (G3a and worse) the rate is decreased.
EGFR_DECREASED_BELOW: Final = 60
EGFR_UNIT_START: Final = "mL/min"

# Source: HL7 International Patient Summary, pregnancy status. 72892002 is what Synthea records for a pregnancy.
PREGNANT: Final = _snomed("77386006", "72892002") | _loinc("LA15173-0")
NOT_PREGNANT: Final = _snomed("60001007") | _loinc("LA26683-5")
PREGNANCY_STATUS: Final = _loinc("82810-3") | _snomed("77386006")

# Source: gematik ISiK, profile Stillstatus (both codes) and its value set of answers.
BREASTFEEDING: Final = _snomed("413712001") | _loinc("LA29252-6")
NOT_BREASTFEEDING: Final = _loinc("LA29253-4")
BREASTFEEDING_STATUS: Final = _loinc("63895-7") | _snomed("413712001")

# SNOMED CT: cirrhosis of liver, alcoholic liver disease, hepatitis, chronic liver disease, chronic hepatitis C,
# chronic type B viral hepatitis, non-alcoholic fatty liver, hepatic failure. Source of the first three: DICOM CID 12325.
LIVER_DISEASE: Final = _snomed(
    "19943007", "41309000", "128241005", "328383001", "128302006", "61977001", "197321007", "59927004"
)
# Source: ICD-10: K70-K77 diseases of liver, B18 chronic viral hepatitis.
LIVER_DISEASE_ICD10: Final = ("K70", "K71", "K72", "K73", "K74", "K75", "K76", "K77", "B18")
