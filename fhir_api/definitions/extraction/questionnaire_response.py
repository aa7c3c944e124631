"""What a resource of the type QuestionnaireResponse is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _author(entries: Entries, value: Any) -> None:
    texts.reference(entries, 562, value)  # author


def _authored(entries: Entries, value: Any) -> None:
    measures.moment(entries, 563, value)  # authored


def _based_on(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 564, value)  # based-on


def _encounter(entries: Entries, value: Any) -> None:
    texts.reference(entries, 565, value)  # encounter


def _identifier(entries: Entries, value: Any) -> None:
    tokens.identifier(entries, 566, value)  # identifier


def _item(entries: Entries, values: Any) -> None:
    for value in values:
        if texts.has_extension(value, "http://hl7.org/fhir/StructureDefinition/questionnaireresponse-isSubject"):
            for part in value.get("answer", ()):
                if (detail := part.get("valueReference")) is not None:
                    texts.reference(entries, 567, detail)  # item-subject


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 558, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 559, part)  # _security
    texts.uri(entries, 560, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 561, part)  # _tag


def _part_of(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 568, value)  # part-of


def _questionnaire(entries: Entries, value: Any) -> None:
    texts.canonical(entries, 570, value)  # questionnaire


def _source(entries: Entries, value: Any) -> None:
    texts.reference(entries, 571, value)  # source


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 572, value, "http://hl7.org/fhir/questionnaire-answers-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 569, value, "Patient")  # patient
    texts.reference(entries, 573, value)  # subject


ELEMENTS: Final = {
    "author": _author,
    "authored": _authored,
    "basedOn": _based_on,
    "encounter": _encounter,
    "identifier": _identifier,
    "item": _item,
    "meta": _meta,
    "partOf": _part_of,
    "questionnaire": _questionnaire,
    "source": _source,
    "status": _status,
    "subject": _subject,
}
WHOLE: Final = ()
