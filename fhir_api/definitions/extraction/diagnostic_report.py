"""What a resource of the type DiagnosticReport is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _based_on(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 176, value)  # based-on


def _category(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 177, value)  # category


def _code(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 178, value)  # code


def _conclusion_code(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 179, value)  # conclusion


def _effective_date_time(entries: Entries, value: Any) -> None:
    measures.moment(entries, 180, value)  # date


def _effective_period(entries: Entries, value: Any) -> None:
    measures.period(entries, 180, value)  # date


def _encounter(entries: Entries, value: Any) -> None:
    texts.reference(entries, 181, value)  # encounter


def _extension(entries: Entries, values: Any) -> None:
    for value in values:
        if value.get("url") == "http://hl7.org/fhir/StructureDefinition/DiagnosticReport-geneticsAssessedCondition":
            texts.extension_reference(entries, 175, value)  # assessed-condition


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 182, value)  # identifier


def _issued(entries: Entries, value: Any) -> None:
    measures.moment(entries, 183, value)  # issued


def _media(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("link")) is not None:
            texts.reference(entries, 184, part)  # media


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 171, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 172, part)  # _security
    texts.uri(entries, 173, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 174, part)  # _tag


def _performer(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 186, value)  # performer


def _result(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 187, value)  # result


def _results_interpreter(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 188, value)  # results-interpreter


def _specimen(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 189, value)  # specimen


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 190, value, "http://hl7.org/fhir/diagnostic-report-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 185, value, "Patient")  # patient
    texts.reference(entries, 191, value)  # subject


ELEMENTS: Final = {
    "basedOn": _based_on,
    "category": _category,
    "code": _code,
    "conclusionCode": _conclusion_code,
    "effectiveDateTime": _effective_date_time,
    "effectivePeriod": _effective_period,
    "encounter": _encounter,
    "extension": _extension,
    "identifier": _identifier,
    "issued": _issued,
    "media": _media,
    "meta": _meta,
    "performer": _performer,
    "result": _result,
    "resultsInterpreter": _results_interpreter,
    "specimen": _specimen,
    "status": _status,
    "subject": _subject,
}
WHOLE: Final = ()
