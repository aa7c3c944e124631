"""Every invariant of R4 is held, by the schema or by code, and refuses at the element it is defined on."""

from decimal import Decimal

import pytest

from fhir_api.generation import definitions as generation
from fhir_api.resources.types import NUMBERS
from fhir_api.validation import validate
from fhir_api.validation.definitions import definitions
from fhir_api.validation.rules import BY_CODE, BY_SCHEMA, NOT_APPLICABLE
from tests.fhir_api import data

from .resources import observation, patient

URL = "http://example.org/extension"
UCUM = "http://unitsofmeasure.org"
CLINICAL = "http://terminology.hl7.org/CodeSystem/condition-clinical"
VERIFICATION = "http://terminology.hl7.org/CodeSystem/condition-ver-status"
ALLERGY = "http://terminology.hl7.org/CodeSystem/allergyintolerance-"
# Rules beside the constraints of the definitions: of the profile SimpleQuantity, and one that R4 says in a comment.
BESIDE = {"sqty-1", "ref-2"}


def extended(name, value):
    return patient(extension=[{"url": URL, name: value}])


def inside(kind, *rest):
    return ".".join((f"Patient.extension[0].value.ofType({kind})", *rest))


def condition(**members):
    return {"resourceType": "Condition", "subject": {"reference": "Patient/1"}, **members}


def concept(system, code):
    return {"coding": [{"system": system, "code": code}]}


def dispense(**members):
    return {
        "resourceType": "MedicationDispense",
        "status": "completed",
        "medicationCodeableConcept": {"text": "a medicine"},
        **members,
    }


def repeat(**members):
    return extended("valueTiming", {"repeat": members})


def trigger(**members):
    return extended("valueTriggerDefinition", members)


def organization(**members):
    return {"resourceType": "Organization", "name": "Clinic", **members}


def narrated(div):
    return patient(text={"status": "generated", "div": div})


def of_eva(type_name, **members):
    """A resource of a further type, with what must be there."""
    person = {"reference": "Patient/1"}
    needed = {
        "AllergyIntolerance": {"patient": person, "code": {"text": "peanut"}},
        "CarePlan": {"status": "active", "intent": "plan", "subject": person},
        "CareTeam": {"subject": person},
        "Goal": {"lifecycleStatus": "active", "description": {"text": "walk"}, "subject": person},
        "Group": {"type": "person", "actual": True},
        "Immunization": {
            "status": "completed",
            "vaccineCode": {"text": "flu"},
            "patient": person,
            "occurrenceDateTime": "2026",
        },
        "MedicationAdministration": {
            "status": "completed",
            "medicationCodeableConcept": {"text": "a medicine"},
            "subject": person,
            "effectiveDateTime": "2026",
        },
        "QuestionnaireResponse": {"status": "completed"},
        "ServiceRequest": {"status": "active", "intent": "order", "subject": person},
    }
    return {"resourceType": type_name, **needed[type_name], **members}


def allergy(clinical, verification):
    found = {"clinicalStatus": clinical, "verificationStatus": verification}
    made = {name: concept(f"{ALLERGY}{name[:-6].lower()}", code) for name, code in found.items() if code}
    return of_eva("AllergyIntolerance", **made)


REPEAT, TRIGGER = inside("Timing", "repeat"), inside("TriggerDefinition")
BROKEN = [
    ("age-1", condition(onsetAge={"value": 3, "unit": "years"}), "Condition.onset.ofType(Age)"),
    ("age-1", condition(onsetAge={"value": 0, "system": UCUM, "code": "a"}), "Condition.onset.ofType(Age)"),
    ("age-1", condition(onsetAge={"value": 3, "system": "http://a", "code": "a"}), "Condition.onset.ofType(Age)"),
    ("ait-1", allergy("", ""), "AllergyIntolerance"),
    ("ait-1", allergy("", "confirmed"), "AllergyIntolerance"),
    ("ait-2", allergy("active", "entered-in-error"), "AllergyIntolerance"),
    ("att-1", patient(photo=[{"data": "TWFu"}]), "Patient.photo[0]"),
    ("cnt-3", extended("valueCount", {"value": Decimal("1.5"), "system": UCUM, "code": "1"}), inside("Count")),
    ("cnt-3", extended("valueCount", {"value": 2, "system": UCUM, "code": "2"}), inside("Count")),
    ("con-1", condition(stage=[{"type": {"text": "a"}}]), "Condition.stage[0]"),
    (
        "con-2",
        condition(evidence=[{"id": "a", "extension": [{"url": URL, "valueCode": "a"}]}]),
        "Condition.evidence[0]",
    ),
    ("con-4", condition(abatementDateTime="2020", clinicalStatus=concept(CLINICAL, "active")), "Condition"),
    ("con-4", condition(abatementString="gone"), "Condition"),
    (
        "con-5",
        condition(
            clinicalStatus=concept(CLINICAL, "active"), verificationStatus=concept(VERIFICATION, "entered-in-error")
        ),
        "Condition",
    ),
    (
        "cpl-3",
        of_eva("CarePlan", activity=[{"reference": {"display": "a"}, "detail": {"status": "scheduled"}}]),
        "CarePlan.activity[0]",
    ),
    ("cpt-2", patient(telecom=[{"value": "1"}]), "Patient.telecom[0]"),
    (
        "ctm-1",
        of_eva(
            "CareTeam",
            participant=[{"member": {"reference": "Patient/2"}, "onBehalfOf": {"reference": "Organization/3"}}],
        ),
        "CareTeam.participant[0].onBehalfOf",
    ),
    ("dis-1", extended("valueDistance", {"value": 3}), inside("Distance")),
    (
        "dom-2",
        patient(
            contained=[{**organization(id="o"), "contained": [organization(id="p")]}],
            managingOrganization={"reference": "#o"},
        ),
        "Patient.contained[0].contained",
    ),
    ("dom-3", patient(contained=[organization(id="o")]), "Patient.contained[0]"),
    ("dom-3", patient(contained=[organization()]), "Patient.contained[0]"),
    ("dom-3", patient(contained=[organization(id="o")], maritalStatus={"text": "#o"}), "Patient.contained[0]"),
    *(
        (
            rule,
            patient(contained=[organization(id="o", meta=meta)], managingOrganization={"reference": "#o"}),
            f"Patient.contained[0].meta.{next(iter(meta))}",
        )
        for rule, meta in (
            ("dom-4", {"versionId": "1"}),
            ("dom-4", {"lastUpdated": "2020-01-01T00:00:00Z"}),
            ("dom-5", {"security": [{"code": "R"}]}),
        )
    ),
    (
        "drq-1",
        extended("valueDataRequirement", {"type": "Patient", "codeFilter": [{"path": "a", "searchParam": "b"}]}),
        inside("DataRequirement", "codeFilter[0]"),
    ),
    (
        "drq-2",
        extended("valueDataRequirement", {"type": "Patient", "dateFilter": [{"valueDateTime": "2020"}]}),
        inside("DataRequirement", "dateFilter[0]"),
    ),
    ("drt-1", extended("valueDuration", {"code": "h", "system": UCUM}), inside("Duration")),
    ("drt-1", extended("valueDuration", {"code": "h", "system": "http://a", "value": 1}), inside("Duration")),
    ("ele-1", patient(maritalStatus={"id": "a"}), "Patient.maritalStatus"),
    ("ele-1", patient(_birthDate={"id": "a"}), "Patient.birthDate"),
    ("ele-1", patient(name=[{"given": ["a"], "_given": [None, {"id": "b"}]}]), "Patient.name[0].given[1]"),
    ("exp-1", extended("valueExpression", {"language": "text/cql"}), inside("Expression")),
    ("ext-1", patient(extension=[{"url": URL}]), "Patient.extension[0]"),
    (
        "ext-1",
        patient(extension=[{"url": URL, "valueCode": "a", "extension": [{"url": URL, "valueCode": "b"}]}]),
        "Patient.extension[0]",
    ),
    (
        "ext-1",
        patient(birthDate="2000", _birthDate={"extension": [{"url": URL, "extension": [{"url": URL}]}]}),
        "Patient.birthDate.extension[0].extension[0]",
    ),
    ("gol-1", of_eva("Goal", target=[{"detailString": "far"}]), "Goal.target[0]"),
    ("grp-1", of_eva("Group", actual=False, member=[{"entity": {"reference": "Patient/1"}}]), "Group"),
    ("imm-1", of_eva("Immunization", education=[{"publicationDate": "2026"}]), "Immunization.education[0]"),
    ("mad-1", of_eva("MedicationAdministration", dosage={"text": "one"}), "MedicationAdministration.dosage"),
    ("mdd-1", dispense(whenPrepared="2020-02-02", whenHandedOver="2020-02-01"), "MedicationDispense"),
    ("obs-3", observation(referenceRange=[{"appliesTo": [{"text": "a"}]}]), "Observation.referenceRange[0]"),
    (
        "obs-3",
        observation(component=[{"code": {"text": "b"}, "referenceRange": [{"age": {"low": {"value": 1}}}]}]),
        "Observation.component[0].referenceRange[0]",
    ),
    ("obs-6", observation(valueString="a", dataAbsentReason={"text": "b"}), "Observation"),
    (
        "obs-7",
        observation(
            code=concept("http://loinc.org", "1-8"),
            valueString="a",
            component=[{"code": concept("http://loinc.org", "1-8"), "valueString": "b"}],
        ),
        "Observation",
    ),
    ("org-1", {"resourceType": "Organization", "active": True}, "Organization"),
    ("org-2", organization(address=[{"city": "A", "use": "home"}]), "Organization"),
    ("org-3", organization(telecom=[{"system": "phone", "value": "1", "use": "home"}]), "Organization"),
    ("pat-1", patient(contact=[{"gender": "male"}]), "Patient.contact[0]"),
    (
        "per-1",
        patient(name=[{"family": "A", "period": {"start": "2020-02", "end": "2020-01-31"}}]),
        "Patient.name[0].period",
    ),
    (
        "per-1",
        observation(effectivePeriod={"start": "2020-01-01T10:00:00+01:00", "end": "2020-01-01T08:59:59Z"}),
        "Observation.effective.ofType(Period)",
    ),
    ("prr-1", of_eva("ServiceRequest", orderDetail=[{"text": "a"}]), "ServiceRequest"),
    (
        "qrs-1",
        of_eva(
            "QuestionnaireResponse", item=[{"linkId": "1", "answer": [{"valueString": "a"}], "item": [{"linkId": "2"}]}]
        ),
        "QuestionnaireResponse.item[0]",
    ),
    ("qty-3", observation(valueQuantity={"value": 1, "code": "mg"}), "Observation.value.ofType(Quantity)"),
    ("rat-1", observation(valueRatio={"numerator": {"value": 1}}), "Observation.value.ofType(Ratio)"),
    ("rat-1", extended("valueRatio", {"denominator": {"value": 1}}), inside("Ratio")),
    ("ref-1", observation(subject={"reference": "#p"}), "Observation.subject.reference"),
    ("ref-1", observation(subject={"reference": "#"}), "Observation.subject.reference"),
    ("ref-2", observation(subject={"type": "Patient"}), "Observation.subject"),
    (
        "rng-2",
        observation(valueRange={"low": {"value": 3, "unit": "g"}, "high": {"value": Decimal("2.9"), "unit": "g"}}),
        "Observation.value.ofType(Range)",
    ),
    ("sqty-1", dispense(quantity={"value": 1, "comparator": "<"}), "MedicationDispense.quantity"),
    ("tim-1", repeat(duration=1), REPEAT),
    ("tim-2", repeat(period=1), REPEAT),
    ("tim-4", repeat(duration=-1, durationUnit="h"), REPEAT),
    ("tim-5", repeat(period=Decimal("-0.5"), periodUnit="h"), REPEAT),
    ("tim-6", repeat(periodMax=1), REPEAT),
    ("tim-7", repeat(durationMax=1), REPEAT),
    ("tim-8", repeat(countMax=1), REPEAT),
    ("tim-9", repeat(offset=10), REPEAT),
    ("tim-9", repeat(offset=10, when=["C"]), REPEAT),
    ("tim-10", repeat(timeOfDay=["10:00:00"], when=["MORN"]), REPEAT),
    ("trd-1", trigger(type="data-added", data=[{"type": "Patient"}], timingDate="2020"), TRIGGER),
    ("trd-2", trigger(type="named-event", name="a", condition={"language": "text/cql", "expression": "a"}), TRIGGER),
    ("trd-3", trigger(type="named-event"), TRIGGER),
    ("trd-3", trigger(type="periodic", name="a"), TRIGGER),
    ("trd-3", trigger(type="data-added"), TRIGGER),
    ("txt-1", narrated('<div xmlns="http://www.w3.org/1999/xhtml"><script>a</script></div>'), "Patient.text.div"),
    ("txt-2", narrated('<div xmlns="http://www.w3.org/1999/xhtml"> <p> </p></div>'), "Patient.text.div"),
]


@pytest.mark.parametrize(("rule", "resource", "expression"), BROKEN)
def test_broken_invariant_is_one_issue_with_its_key(rule, resource, expression):
    issues = validate(resource)

    assert [(issue.code, issue.expression, issue.details) for issue in issues] == [("invariant", expression, rule)]
    assert issues[0].diagnostics.startswith(f"{rule}: ")


def test_every_rule_of_the_table_is_broken_above():
    assert {rule for rule, _, _ in BROKEN} == {*BY_SCHEMA, *BY_CODE}


def test_no_constraint_of_r4_is_forgotten():
    errors = {
        constraint["key"]
        for structure in generation.read(*data.definitions()["structure_definitions"])
        for element in structure["snapshot"]["element"]
        for constraint in element.get("constraint", ())
        if constraint["severity"] == "error"
    }
    table = [*BY_SCHEMA, *BY_CODE, *NOT_APPLICABLE]

    assert len(table) == len(set(table))
    assert errors <= set(table)
    assert set(table) - errors == BESIDE


def test_rules_of_the_schema_are_those_of_the_table():
    titles = set()
    waiting = [definitions()]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            titles.add(one["title"]) if isinstance(one.get("title"), str) else None
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one

    assert {title for title in titles if title[-1].isdigit() and "-" in title} == set(BY_SCHEMA)


def test_type_whose_rules_do_not_apply_is_not_defined():
    assert [name for name in definitions() if name.startswith("ElementDefinition")] == []
    assert set(NUMBERS) <= set(definitions())


@pytest.mark.parametrize(
    "resource",
    [
        observation(effectivePeriod={"start": "2020-01-01T23:00:00-05:00", "end": "2020-01-01"}),
        observation(effectivePeriod={"start": "2020-01-01", "end": "2020-01-01T00:00:00+14:00"}),
        observation(effectivePeriod={"start": "2020-01-31T23:00:00Z", "end": "2020-01"}),
        observation(effectivePeriod={"start": "2020-01-01", "end": "2020"}),
        observation(effectivePeriod={"start": "2016-12-31T23:59:60Z", "end": "2016-12-31T23:59:60Z"}),
        observation(effectivePeriod={"start": "0001-01-01T00:00:00+14:00", "end": "9999-12-31T23:59:59-14:00"}),
        observation(valueRange={"low": {"value": 3, "unit": "kg"}, "high": {"value": 2, "unit": "t"}}),
        observation(valueRange={"low": {"value": Decimal("2.0")}, "high": {"value": 2}}),
        observation(
            code=concept("http://loinc.org", "1-8"),
            component=[{"code": concept("http://loinc.org", "1-8"), "valueString": "b"}],
        ),
        observation(valueRatio={"extension": [{"url": URL, "valueCode": "a"}]}),
        condition(abatementDateTime="2020", clinicalStatus=concept(CLINICAL, "resolved")),
        condition(verificationStatus=concept(VERIFICATION, "entered-in-error")),
        repeat(offset=10, when=["MORN"]),
        dispense(whenPrepared="2020-02-02", whenHandedOver="2020-02-02T10:00:00Z"),
    ],
)
def test_what_may_be_in_order_is_accepted(resource):
    assert validate(resource) == []
