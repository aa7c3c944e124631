"""What a resource of the type Condition is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _abatement_age(entries: Entries, value: Any) -> None:
    measures.quantity(entries, 198, value)  # abatement-age


def _abatement_date_time(entries: Entries, value: Any) -> None:
    measures.moment(entries, 199, value)  # abatement-date


def _abatement_period(entries: Entries, value: Any) -> None:
    measures.period(entries, 199, value)  # abatement-date


def _abatement_range(entries: Entries, value: Any) -> None:
    measures.quantity_range(entries, 198, value)  # abatement-age


def _abatement_string(entries: Entries, value: Any) -> None:
    texts.string(entries, 200, value)  # abatement-string


def _asserter(entries: Entries, value: Any) -> None:
    texts.reference(entries, 201, value)  # asserter


def _body_site(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 202, value)  # body-site


def _category(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 203, value)  # category


def _clinical_status(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 204, value)  # clinical-status


def _code(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 205, value)  # code


def _encounter(entries: Entries, value: Any) -> None:
    texts.reference(entries, 206, value)  # encounter


def _evidence(entries: Entries, values: Any) -> None:
    for value in values:
        for part in value.get("code", ()):
            tokens.codeable_concept(entries, 207, part)  # evidence
        for part in value.get("detail", ()):
            texts.reference(entries, 208, part)  # evidence-detail


def _extension(entries: Entries, values: Any) -> None:
    for value in values:
        if value.get("url") == "http://hl7.org/fhir/StructureDefinition/condition-assertedDate":
            measures.extension_date(entries, 302, value)  # asserted-date


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 209, value)  # identifier


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 194, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 195, part)  # _security
    texts.uri(entries, 196, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 197, part)  # _tag


def _onset_age(entries: Entries, value: Any) -> None:
    measures.quantity(entries, 210, value)  # onset-age


def _onset_date_time(entries: Entries, value: Any) -> None:
    measures.moment(entries, 211, value)  # onset-date


def _onset_period(entries: Entries, value: Any) -> None:
    measures.period(entries, 211, value)  # onset-date


def _onset_range(entries: Entries, value: Any) -> None:
    measures.quantity_range(entries, 210, value)  # onset-age


def _onset_string(entries: Entries, value: Any) -> None:
    texts.string(entries, 212, value)  # onset-info


def _recorded_date(entries: Entries, value: Any) -> None:
    measures.moment(entries, 214, value)  # recorded-date


def _severity(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 215, value)  # severity


def _stage(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("summary")) is not None:
            tokens.codeable_concept(entries, 216, part)  # stage


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 213, value, "Patient")  # patient
    texts.reference(entries, 217, value)  # subject


def _verification_status(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 218, value)  # verification-status


ELEMENTS: Final = {
    "abatementAge": _abatement_age,
    "abatementDateTime": _abatement_date_time,
    "abatementPeriod": _abatement_period,
    "abatementRange": _abatement_range,
    "abatementString": _abatement_string,
    "asserter": _asserter,
    "bodySite": _body_site,
    "category": _category,
    "clinicalStatus": _clinical_status,
    "code": _code,
    "encounter": _encounter,
    "evidence": _evidence,
    "extension": _extension,
    "identifier": _identifier,
    "meta": _meta,
    "onsetAge": _onset_age,
    "onsetDateTime": _onset_date_time,
    "onsetPeriod": _onset_period,
    "onsetRange": _onset_range,
    "onsetString": _onset_string,
    "recordedDate": _recorded_date,
    "severity": _severity,
    "stage": _stage,
    "subject": _subject,
    "verificationStatus": _verification_status,
}
WHOLE: Final = ()
