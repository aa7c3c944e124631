"""Every official expression finds in every official example what an independent FHIRPath engine finds there.

The engine is fhirpathpy. Where the two may differ, and why:
- `a as T` on a list of values is refused by the engine (FHIRPath: a single item); here it is asked for `a.ofType(T)`, which
  is what R4's expressions mean.
- `where(resolve() is T)` needs a server; here the engine gives all references, and those whose text or type is T are kept.
- `DateTime` in code-value-date is a slip of R4 for `dateTime`.
- `Resource.` is written as the type: the engine does not know that each of them is a Resource.
- mothersMaidenName names an extension that does not exist; the registered one is found as well.
- `hasExtension` and `ofType` on `value` are asked as the engine knows them; texts where a date was sought are left out.
- Extensions are evaluated to the extension; what is found by is its value.
"""

import json
import re
from datetime import UTC, datetime
from decimal import Decimal

import fhirpathpy
import pytest
from fhirpathpy.models import models

from fhir_api import keys, measures, texts, tokens
from fhir_api.definitions.parameters import BY_TYPE
from fhir_api.entries import Entries
from fhir_api.indexing import index
from fhir_api.resources import stamped, written
from fhir_api.store import index_of_body

from . import data

R4 = models["r4"]
_RESOLVE = re.compile(r"\.where\(resolve\(\) is (\w+)\)")
_CAST = re.compile(r"\((\S+) as (\w+)\)")
_EXTENDED = re.compile(r"where\(hasExtension\('([^']*)'\)\)")
_HTTP = "http://hl7.org/fhir/"
_SYSTEMS = {  # of codes with a required binding; Source: R4 pages of the types
    "gender": f"{_HTTP}administrative-gender",
    "address-use": f"{_HTTP}address-use",
    "priority": f"{_HTTP}request-priority",
    "intent": f"{_HTTP}CodeSystem/medicationrequest-intent",
    "Encounter.status": f"{_HTTP}encounter-status",
    "Observation.status": f"{_HTTP}observation-status",
    "DiagnosticReport.status": f"{_HTTP}diagnostic-report-status",
    "Location.status": f"{_HTTP}location-status",
    "MedicationRequest.status": f"{_HTTP}CodeSystem/medicationrequest-status",
    "MedicationStatement.status": f"{_HTTP}CodeSystem/medication-statement-status",
    "MedicationDispense.status": "http://terminology.hl7.org/CodeSystem/medicationdispense-status",
    "MedicationAdministration.status": "http://terminology.hl7.org/CodeSystem/medication-admin-status",
    "AllergyIntolerance.type": f"{_HTTP}allergy-intolerance-type",
    "AllergyIntolerance.category": f"{_HTTP}allergy-intolerance-category",
    "AllergyIntolerance.criticality": f"{_HTTP}allergy-intolerance-criticality",
    "AllergyIntolerance.severity": f"{_HTTP}reaction-event-severity",
    "CarePlan.status": f"{_HTTP}request-status",
    "CarePlan.intent": f"{_HTTP}request-intent",
    "CareTeam.status": f"{_HTTP}care-team-status",
    "Coverage.status": f"{_HTTP}fm-status",
    "Device.status": f"{_HTTP}device-status",
    "DocumentReference.status": f"{_HTTP}document-reference-status",
    "DocumentReference.relation": f"{_HTTP}document-relationship-type",
    "Goal.lifecycle-status": f"{_HTTP}goal-status",
    "Group.type": f"{_HTTP}group-type",
    "Immunization.status": f"{_HTTP}event-status",
    "Medication.status": f"{_HTTP}CodeSystem/medication-status",
    "Procedure.status": f"{_HTTP}event-status",
    "QuestionnaireResponse.status": f"{_HTTP}questionnaire-answers-status",
    "ServiceRequest.status": f"{_HTTP}request-status",
    "ServiceRequest.intent": f"{_HTTP}request-intent",
    "Specimen.status": f"{_HTTP}specimen-status",
}
_PLAIN = {  # tokens that have no system: MIME types, languages, numbers of lots
    "DocumentReference.contenttype",
    "DocumentReference.language",
    "Medication.lot-number",
}
_IDENTIFIERS = {"identifier", "accession", "container-id", "requisition"}
_CODINGS = {"class", "_tag", "_security", "operational-status", "format", "signature-type"}


def evaluate(resource, expression, *, base=""):
    """What the engine finds; `base` is the path of what is given instead of a whole resource."""
    resolved = _RESOLVE.search(expression)
    asked = _CAST.sub(r"\1.ofType(\2)", _RESOLVE.sub("", expression)).replace(".as(DateTime)", ".as(dateTime)")
    asked = re.sub(r"^Resource\b", resource.get("resourceType", ""), asked)
    asked = _EXTENDED.sub(r"where(extension('\1').exists())", asked)
    asked = asked.replace("patient-extensions-Patient-mothersMaidenName", "patient-mothersMaidenName")
    found = fhirpathpy.evaluate(resource, {"base": base, "expression": asked} if base else asked, model=R4)
    if not resolved:
        return found
    contained = {f"#{one.get('id')}": one["resourceType"] for one in resource.get("contained", ())}
    return [one for one in found if _points_to(one, resolved[1], contained)]


def _points_to(reference, type_name, contained):
    text = reference.get("reference", "")
    stated = type_name in (reference.get("type"), contained.get(text))
    return stated or re.match(rf"(.*/)?{type_name}/[^/]+$", text)


def expected(resource):
    """The entries that the engine's values make."""
    entries = Entries()
    for parameter in BY_TYPE[resource["resourceType"]].values():
        if parameter.is_column or parameter.parts:
            continue
        if parameter.kind == "composite":
            _add_pairs(entries, parameter, resource)
            continue
        for value in evaluate(resource, parameter.expression):
            _add(entries, parameter, value)
    if resource["resourceType"] == "Observation":
        _add_codes_of_patient(entries, resource)
    entries.sort_date = index(resource).sort_date
    return entries


def _add_codes_of_patient(entries, resource):
    """What the rules of the platform look up: each code of the patient who is the subject."""
    code = BY_TYPE["Observation"]["code"].number
    for reference in evaluate(resource, "Observation.subject.reference"):
        kind, _, fhir_id = reference.partition("/")
        for one in evaluate(resource, "Observation.code.coding") if kind == "Patient" else ():
            key = keys.system_code_key(code, one["system"], one["code"])
            entries.postings.add(keys.patients_code_key(keys.target_key(kind, fhir_id), key))


def _add(entries, parameter, value):
    adding = {"token": _token, "string": _string, "date": _date, "quantity": _quantity, "reference": _reference}
    if parameter.kind == "uri":
        texts.uri(entries, parameter.number, value)
    elif parameter.kind == "special":
        measures.position(entries, parameter.number, value)
    else:
        adding[parameter.kind](entries, parameter, value)


def _token(entries, parameter, value):
    number, code = parameter.number, parameter.code
    if isinstance(value, bool):
        tokens.boolean(entries, number, value)
    elif isinstance(value, str):
        name = f"{parameter.type}.{code}"
        system = "" if name in _PLAIN else _SYSTEMS.get(name) or _SYSTEMS[code]
        tokens.code(entries, number, value, system)
    elif code in ("telecom", "email", "phone"):
        tokens.contact_point(entries, number, value)
    elif code in _IDENTIFIERS:
        tokens.identifier(entries, number, value)
    elif "url" in value:
        tokens.extension_token(entries, number, value)
    elif code in _CODINGS:
        tokens.coding(entries, number, value)
    else:
        tokens.codeable_concept(entries, number, value)


def _string(entries, parameter, value):
    if isinstance(value, str):
        texts.string(entries, parameter.number, value)
    elif "url" in value:
        texts.extension_string(entries, parameter.number, value)
    elif parameter.code == "address":
        texts.address(entries, parameter.number, value)
    else:
        texts.human_name(entries, parameter.number, value)


def _date(entries, parameter, value):
    if isinstance(value, str):
        is_text = parameter.code == "activity-date" or not re.match(r"\d{4}", value)  # as in Procedure.performed
        if not is_text:
            measures.moment(entries, parameter.number, value)
    elif "url" in value:
        measures.extension_date(entries, parameter.number, value)
    elif "event" in value or "repeat" in value:
        measures.timing(entries, parameter.number, value)
    else:
        measures.period(entries, parameter.number, value)


def _quantity(entries, parameter, value):
    if "origin" in value:
        measures.sampled_data(entries, parameter.number, value)
    elif "low" in value or "high" in value:
        measures.quantity_range(entries, parameter.number, value)
    else:
        measures.quantity(entries, parameter.number, value)


def _reference(entries, parameter, value):
    if isinstance(value, str):
        texts.canonical(entries, parameter.number, value)
    elif "url" in value:
        texts.extension_reference(entries, parameter.number, value)
    else:
        texts.reference(entries, parameter.number, value)


def _add_pairs(entries, parameter, resource):
    pairs = {"token": measures.token_token, "quantity": measures.token_quantity, "string": measures.token_string}
    pairs["reference"] = measures.token_reference
    first, second = parameter.components
    for base in parameter.expression.split(" | "):
        for place in evaluate(resource, base):
            (coded,) = evaluate(place, first.expression, base=base)
            if isinstance(coded, str):
                coded = {"coding": [{"code": coded, "system": _SYSTEMS[f"{parameter.type}.{first.code}"]}]}
            for value in evaluate(place, second.expression, base=base):
                if isinstance(value, bool):
                    adding = measures.token_boolean
                elif second.kind != "date":
                    adding = pairs[second.kind]
                else:
                    adding = measures.token_moment if isinstance(value, str) else measures.token_period
                repeats = {} if base == parameter.type else {"systems": True}  # then `system|` has entries of its own
                adding(entries, parameter.number, coded, value, **repeats)


def _named(resource):
    return f"{resource['resourceType']}-{resource['id']}"


def _plain(resource):
    """With floats, as the engine gives decimals back."""
    return json.loads(json.dumps(resource))


def test_every_expression_finds_in_every_example_what_the_engine_finds():
    examples = data.examples()

    different = {_named(one): (index(one), expected(_plain(one))) for one in examples}

    assert len(examples) == 264
    assert {name: pair for name, pair in different.items() if pair[0] != pair[1]} == {}


def test_examples_reach_most_parameters():
    """The comparison above says something of these; the others have tests of their own in test_indexing."""
    found = set().union(*(index(one).parameters for one in data.examples()))
    known = {one.number for of_type in BY_TYPE.values() for one in of_type.values() if not one.is_column}

    assert found <= known
    assert len(found) > len(known) / 2


def test_stored_body_is_found_by_what_the_resource_is_found_by():
    """The store compares the entries of a body that it reads again with those it wrote."""
    at = datetime(2026, 11, 21, tzinfo=UTC)
    examples = [json.loads(line, parse_float=Decimal) for line in data.example_lines()]

    for one in examples:
        stored = written(stamped(one, fhir_id="1", version=2, at=at))
        assert index_of_body(stored) == index(one), _named(one)


def test_every_synthea_resource_is_indexed():
    kinds = set()
    for bundle in data.synthea_bundles():
        for entry in bundle["entry"]:
            entries = index(entry["resource"])
            kinds.add(entry["resource"]["resourceType"])
            assert entries.postings
            assert entries.parameters

    assert {"Patient", "Encounter", "Observation", "MedicationRequest", "DiagnosticReport", "Condition"} <= kinds


@pytest.mark.parametrize("number", ["1.10", "1e400", "-1e400", "1e-400", "9" * 400])
def test_decimal_of_any_size_is_indexed(number):
    resource = {"resourceType": "Observation", "status": "final", "code": {"text": "x"}}
    values = (Decimal(number), int(number) if number.isdigit() else Decimal(number))

    for value in values:
        entries = index({**resource, "valueQuantity": {"value": value, "unit": "g"}})
        assert len(entries.quantities) == 2
        assert all(abs(found) < float("inf") for _, found in entries.quantities)
