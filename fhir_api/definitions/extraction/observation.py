"""What a resource of the type Observation is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _based_on(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 67, value)  # based-on


def _category(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 68, value)  # category


def _code(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 69, value)  # code


def _component(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("code")) is not None:
            tokens.codeable_concept(entries, 80, part)  # component-code
        if (part := value.get("dataAbsentReason")) is not None:
            tokens.codeable_concept(entries, 83, part)  # component-data-absent-reason
        if (part := value.get("valueCodeableConcept")) is not None:
            measures.token_token(entries, 81, value["code"], part, systems=True)  # component-code-value-concept
            tokens.codeable_concept(entries, 84, part)  # component-value-concept
        if (part := value.get("valueQuantity")) is not None:
            measures.token_quantity(entries, 82, value["code"], part, systems=True)  # component-code-value-quantity
            measures.quantity(entries, 85, part)  # component-value-quantity
        if (part := value.get("valueSampledData")) is not None:
            measures.sampled_data(entries, 85, part)  # component-value-quantity


def _data_absent_reason(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 86, value)  # data-absent-reason


def _derived_from(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 88, value)  # derived-from


def _device(entries: Entries, value: Any) -> None:
    texts.reference(entries, 89, value)  # device


def _effective_date_time(entries: Entries, value: Any) -> None:
    measures.moment(entries, 87, value)  # date


def _effective_instant(entries: Entries, value: Any) -> None:
    measures.moment(entries, 87, value)  # date


def _effective_period(entries: Entries, value: Any) -> None:
    measures.period(entries, 87, value)  # date


def _effective_timing(entries: Entries, value: Any) -> None:
    measures.timing(entries, 87, value)  # date


def _encounter(entries: Entries, value: Any) -> None:
    texts.reference(entries, 91, value)  # encounter


def _extension(entries: Entries, values: Any) -> None:
    for value in values:
        if value.get("url") == "http://hl7.org/fhir/StructureDefinition/observation-geneticsAminoAcidChangeName":
            texts.extension_string(entries, 66, value)  # amino-acid-change
            texts.extension_string(entries, 93, value)  # gene-amino-acid-change
        if value.get("url") == "http://hl7.org/fhir/StructureDefinition/observation-geneticsDnaVariant":
            texts.extension_string(entries, 90, value)  # dna-variant
            texts.extension_string(entries, 94, value)  # gene-dnavariant
        if value.get("url") == "http://hl7.org/fhir/StructureDefinition/observation-geneticsGene":
            tokens.extension_token(entries, 95, value)  # gene-identifier


def _focus(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 92, value)  # focus


def _has_member(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 96, value)  # has-member


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 97, value)  # identifier


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 62, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 63, part)  # _security
    texts.uri(entries, 64, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 65, part)  # _tag


def _method(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 98, value)  # method


def _part_of(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 99, value)  # part-of


def _performer(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 101, value)  # performer


def _specimen(entries: Entries, value: Any) -> None:
    texts.reference(entries, 102, value)  # specimen


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 103, value, "http://hl7.org/fhir/observation-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 100, value, "Patient")  # patient
    texts.reference(entries, 104, value)  # subject


def _value_codeable_concept(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 105, value)  # value-concept
    texts.string(entries, 108, value.get("text"))  # value-string


def _value_date_time(entries: Entries, value: Any) -> None:
    measures.moment(entries, 106, value)  # value-date


def _value_period(entries: Entries, value: Any) -> None:
    measures.period(entries, 106, value)  # value-date


def _value_quantity(entries: Entries, value: Any) -> None:
    measures.quantity(entries, 107, value)  # value-quantity


def _value_sampled_data(entries: Entries, value: Any) -> None:
    measures.sampled_data(entries, 107, value)  # value-quantity


def _value_string(entries: Entries, value: Any) -> None:
    texts.string(entries, 108, value)  # value-string


def _whole(entries: Entries, value: Any) -> None:
    if (part := value.get("valueCodeableConcept")) is not None:
        measures.token_token(entries, 70, value["code"], part)  # code-value-concept
    if (part := value.get("valueDateTime")) is not None:
        measures.token_moment(entries, 71, value["code"], part)  # code-value-date
    if (part := value.get("valuePeriod")) is not None:
        measures.token_period(entries, 71, value["code"], part)  # code-value-date
    if (part := value.get("valueQuantity")) is not None:
        measures.token_quantity(entries, 72, value["code"], part)  # code-value-quantity
    if (part := value.get("valueString")) is not None:
        measures.token_string(entries, 73, value["code"], part)  # code-value-string


ELEMENTS: Final = {
    "basedOn": _based_on,
    "category": _category,
    "code": _code,
    "component": _component,
    "dataAbsentReason": _data_absent_reason,
    "derivedFrom": _derived_from,
    "device": _device,
    "effectiveDateTime": _effective_date_time,
    "effectiveInstant": _effective_instant,
    "effectivePeriod": _effective_period,
    "effectiveTiming": _effective_timing,
    "encounter": _encounter,
    "extension": _extension,
    "focus": _focus,
    "hasMember": _has_member,
    "identifier": _identifier,
    "meta": _meta,
    "method": _method,
    "partOf": _part_of,
    "performer": _performer,
    "specimen": _specimen,
    "status": _status,
    "subject": _subject,
    "valueCodeableConcept": _value_codeable_concept,
    "valueDateTime": _value_date_time,
    "valuePeriod": _value_period,
    "valueQuantity": _value_quantity,
    "valueSampledData": _value_sampled_data,
    "valueString": _value_string,
}
WHOLE: Final = (_whole,)
