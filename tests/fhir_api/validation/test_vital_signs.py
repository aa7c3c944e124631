"""Observations against R4's vital-signs profiles: what each profile demands, the official examples, whole Synthea patients."""

import pytest

from fhir_api.generation import vital_signs as generation
from fhir_api.generation.definitions import DEFINITIONS
from fhir_api.validation import validate, vital_signs
from fhir_api.validation.rules import BY_PROFILE
from tests.fhir_api import data

from .resources import examples, observation, synthea

LOINC, UCUM = "http://loinc.org", "http://unitsofmeasure.org"
CATEGORY = "http://terminology.hl7.org/CodeSystem/observation-category"
PROFILES = "http://hl7.org/fhir/StructureDefinition/"
PLAIN = {
    "bmi": ("39156-5", ["kg/m2"]),
    "bodyheight": ("8302-2", ["cm", "[in_i]"]),
    "bodytemp": ("8310-5", ["Cel", "[degF]"]),
    "bodyweight": ("29463-7", ["g", "kg", "[lb_av]"]),
    "headcircum": ("9843-4", ["cm", "[in_i]"]),
    "heartrate": ("8867-4", ["/min"]),
    "oxygensat": ("2708-6", ["%"]),
    "resprate": ("9279-1", ["/min"]),
}
# The official examples that vital-signs profiles hold.
HELD = {
    *("blood-pressure", "blood-pressure-cancel", "blood-pressure-dar", "body-height", "body-length", "example"),
    *("heart-rate", "respiratory-rate", "satO2", "vitals-panel"),
}


def concept(*codes, system=LOINC):
    return {"coding": [{"system": system, "code": code} for code in codes]}


def quantity(code="/min", **more):
    return {"value": 70, "unit": code, "system": UCUM, "code": code, **more}


def without(holder, *names):
    return {name: value for name, value in holder.items() if name not in names}


def sign(**more):
    """A heart rate, changed; None leaves a member out."""
    members = {
        "category": [concept("vital-signs", system=CATEGORY)],
        "code": concept("8867-4"),
        "subject": {"reference": "Patient/1"},
        "effectiveDateTime": "2026-01-02",
        "valueQuantity": quantity(),
        **more,
    }
    return observation(**{name: value for name, value in members.items() if value is not None})


def part(*codes, **more):
    return {"code": concept(*codes), "valueQuantity": quantity("mm[Hg]"), **more}


def pressure(*components, **more):
    return sign(**{"code": concept("85354-9"), "valueQuantity": None, "component": list(components), **more})


def claimed(name, version=""):
    return {"meta": {"profile": ["http://example.org/another", f"{PROFILES}{name}{version}"]}}


SYSTOLIC, DIASTOLIC = part("8480-6"), part("8462-4")
UNKNOWN = {"extension": [{"url": f"{PROFILES}data-absent-reason", "valueCode": "unknown"}]}
PULSE, PRESSURE = "Observation.value.ofType(Quantity)", "Observation.component[0].value.ofType(Quantity)"
GROUP = {"resourceType": "Group", "id": "g", "type": "person", "actual": True}

BROKEN = {
    "no category": (sign(category=None), "Observation.category", "required"),
    "another category": (
        sign(category=[concept("laboratory", system=CATEGORY)]),
        "Observation.category",
        "code-invalid",
    ),
    "category of another system": (
        sign(category=[concept("vital-signs", system="a:b")]),
        "Observation.category",
        "code-invalid",
    ),
    "category twice": (
        sign(category=[concept("vital-signs", system=CATEGORY)] * 2),
        "Observation.category[1]",
        "structure",
    ),
    "no subject": (sign(subject=None), "Observation.subject", "required"),
    "subject of another type": (sign(subject={"reference": "Group/1"}), "Observation.subject.reference", "value"),
    "subject stated as another type": (
        sign(subject={"type": "Device", "display": "a"}),
        "Observation.subject.type",
        "value",
    ),
    "contained subject of another type": (
        sign(contained=[GROUP], subject={"reference": "#g"}),
        "Observation.subject.reference",
        "value",
    ),
    "no time": (sign(effectiveDateTime=None), "Observation.effective", "required"),
    "time of another type": (
        sign(effectiveDateTime=None, effectiveInstant="2026-01-02T10:00:00Z"),
        "Observation.effective.ofType(instant)",
        "structure",
    ),
    "month alone": (sign(effectiveDateTime="2026-01"), "Observation.effective.ofType(dateTime)", "invariant"),
    "year alone": (sign(effectiveDateTime="2026"), "Observation.effective.ofType(dateTime)", "invariant"),
    "neither value nor reason": (sign(valueQuantity=None), "Observation", "invariant"),
    "value of another type": (
        sign(valueQuantity=None, valueString="70"),
        "Observation.value.ofType(string)",
        "structure",
    ),
    "no number": (sign(valueQuantity=without(quantity(), "value")), f"{PULSE}.value", "required"),
    "no unit": (sign(valueQuantity=without(quantity(), "unit")), f"{PULSE}.unit", "required"),
    "no code of the unit": (sign(valueQuantity=without(quantity(), "code")), f"{PULSE}.code", "required"),
    "another system of units": (sign(valueQuantity=quantity(system="http://a.b")), f"{PULSE}.system", "value"),
    "another unit": (sign(valueQuantity=quantity("{beats}/min")), f"{PULSE}.code", "code-invalid"),
    "code twice": (sign(code=concept("8867-4", "8867-4")), "Observation.code", "structure"),
    "no component of diastolic pressure": (pressure(SYSTOLIC, part("8478-0")), "Observation.component", "required"),
    "systolic pressure twice": (pressure(SYSTOLIC, DIASTOLIC, SYSTOLIC), "Observation.component[2]", "structure"),
    "pressure with a value of its own": (
        pressure(SYSTOLIC, DIASTOLIC, valueQuantity=quantity("mm[Hg]")),
        PULSE,
        "structure",
    ),
    "component without a value": (
        pressure(without(SYSTOLIC, "valueQuantity"), DIASTOLIC),
        "Observation.component[0]",
        "invariant",
    ),
    "component in another unit": (
        pressure(part("8480-6", valueQuantity=quantity("kPa")), DIASTOLIC),
        f"{PRESSURE}.code",
        "code-invalid",
    ),
    "component without a unit": (
        pressure(part("8480-6", valueQuantity=without(quantity("mm[Hg]"), "unit")), DIASTOLIC),
        f"{PRESSURE}.unit",
        "required",
    ),
    "component of text": (
        pressure({"code": concept("8480-6"), "valueString": "high"}, DIASTOLIC),
        "Observation.component[0].value.ofType(string)",
        "structure",
    ),
    "another component in a unit of no vital sign": (
        pressure(SYSTOLIC, DIASTOLIC, part("8478-0", valueQuantity=quantity("kPa"))),
        "Observation.component[2].value.ofType(Quantity).code",
        "code-invalid",
    ),
    "another component with a concept that is no unit": (
        pressure(SYSTOLIC, DIASTOLIC, {"code": concept("8478-0"), "valueCodeableConcept": {"text": "high"}}),
        "Observation.component[2].value.ofType(CodeableConcept)",
        "code-invalid",
    ),
    "body mass index without a value": (
        sign(code=concept("39156-5"), valueQuantity=None, dataAbsentReason={"text": "a"}),
        "Observation.value",
        "required",
    ),
    "panel without members": (
        sign(code=concept("85353-1"), valueQuantity=None, dataAbsentReason={"text": "a"}),
        "Observation.hasMember",
        "required",
    ),
    "profile without its code": (
        sign(**claimed("heartrate"), code={"text": "pulse"}),
        "Observation.code",
        "code-invalid",
    ),
    "profile of R4 with its version": (
        sign(**claimed("vitalsigns", "|4.0.1"), code={"text": "a"}, subject=None),
        "Observation.subject",
        "required",
    ),
    "profile beside the one of the code": (
        sign(**claimed("resprate")),
        "Observation.code",
        "code-invalid",
    ),
}
ACCEPTED = {
    "heart rate": sign(),
    "absent value": sign(valueQuantity=None, dataAbsentReason={"text": "not asked"}),
    "time of a period": sign(effectiveDateTime=None, effectivePeriod={"start": "2026"}),
    "time that is not known": sign(effectiveDateTime=None, _effectiveDateTime=UNKNOWN),
    "number that is not known": sign(valueQuantity={**without(quantity(), "value"), "_value": UNKNOWN}),
    "subject elsewhere": sign(subject={"reference": "https://example.org/fhir/Patient/1"}),
    "subject by name": sign(subject={"display": "Eva"}),
    "further codes": sign(code={"coding": [*concept("8867-4")["coding"], {"system": "a:b", "code": "8867-4"}]}),
    "further categories": sign(
        category=[concept("vital-signs", system=CATEGORY), concept("exam", system=CATEGORY), {"text": "c"}]
    ),
    "blood pressure": pressure(SYSTOLIC, DIASTOLIC, part("8478-0")),
    "blood pressure of one value": pressure(
        SYSTOLIC, {"code": concept("8462-4"), "dataAbsentReason": {"text": "not heard"}}
    ),
    "concept of a unit": sign(component=[{"code": {"text": "a"}, "valueCodeableConcept": concept("%", system=UCUM)}]),
    "panel": sign(code=concept("85353-1"), valueQuantity=None, hasMember=[{"reference": "Observation/1"}]),
    "panel by its profile alone": sign(
        **claimed("vitalspanel"), code={"text": "a"}, valueQuantity=None, hasMember=[{"reference": "Observation/1"}]
    ),
    "vital sign of another code by the profile of all": sign(**claimed("vitalsigns"), code={"text": "pain"}),
}
NOT_HELD = {
    "other code": observation(code=concept("8867-5")),
    "code of another system": observation(code=concept("8867-4", system="a:b")),
    "profile of another version": observation(**claimed("heartrate", "|5.0.0")),
    "other profile": observation(**claimed("vitalsigns2")),
    "profile whose address is not known": observation(meta={"profile": [None], "_profile": [UNKNOWN]}),
    "patient": {"resourceType": "Patient", **claimed("heartrate")},
}


def faults(resource):
    assert validate(resource) == []
    return vital_signs.judge(resource, vital_signs.profiles_of(resource))


@pytest.mark.parametrize("name", BROKEN)
def test_broken_vital_sign_has_one_issue_at_its_element(name):
    resource, expression, code = BROKEN[name]

    issues = faults(resource)

    assert [(issue.expression, issue.code, issue.severity) for issue in issues] == [(expression, code, "error")]
    assert "(profile " in issues[0].diagnostics
    assert issues[0].details == ("" if code != "invariant" else issues[0].diagnostics.partition(":")[0])


def test_every_rule_of_the_profiles_is_broken_above():
    told = {issue.details for resource, _, _ in BROKEN.values() for issue in faults(resource)} - {""}
    named = {
        rule["key"]
        for profile in data.read("r4-vital-signs-profiles.json.gz")
        for element in profile["snapshot"]["element"]
        for rule in element.get("constraint", ())
    }

    assert told == set(BY_PROFILE) == {key for key in named if key.startswith("vs-")}


@pytest.mark.parametrize("name", ACCEPTED)
def test_vital_sign_is_accepted(name):
    assert vital_signs.profiles_of(ACCEPTED[name])
    assert faults(ACCEPTED[name]) == []


@pytest.mark.parametrize("name", NOT_HELD)
def test_what_names_no_profile_is_not_held_to_one(name):
    assert vital_signs.profiles_of(NOT_HELD[name]) == []


@pytest.mark.parametrize("name", PLAIN)
def test_units_of_a_profile_are_accepted_and_no_others(name):
    code, units = PLAIN[name]

    def told(unit):
        return [issue.expression for issue in faults(sign(code=concept(code), valueQuantity=quantity(unit)))]

    assert vital_signs.profiles_of(sign(code=concept(code))) == [PROFILES + name]
    assert [told(unit) for unit in units] == [[]] * len(units)
    assert told("mol") == [f"{PULSE}.code"]


def test_issue_of_two_profiles_is_told_once():
    resource = sign(**claimed("vitalspanel"), subject=None, hasMember=[{"display": "a"}], valueQuantity=None)

    assert len(vital_signs.profiles_of(resource)) == 2
    assert [issue.expression for issue in faults(resource)] == ["Observation.subject"]


def test_profile_of_all_vital_signs_is_part_of_every_other():
    assert vital_signs.profiles_of(sign(**claimed("vitalsigns"))) == [f"{PROFILES}heartrate"]
    for name, (resource, expression, _) in BROKEN.items():
        base = vital_signs.judge(resource, [f"{PROFILES}vitalsigns"])
        assert {issue.expression for issue in base} <= {expression}, name


def test_official_examples_are_held_and_accepted():
    held = {one["id"]: one for one in examples() if vital_signs.profiles_of(one)}

    assert set(held) == HELD
    assert [issue for one in held.values() for issue in faults(one)] == []


def test_vital_signs_of_synthea_are_accepted():
    held = [one for one in synthea() if vital_signs.profiles_of(one)]

    assert len(held) > 300
    assert [issue for one in held for issue in faults(one)] == []


def test_committed_rules_are_what_the_generator_writes():
    profiles = data.read("r4-vital-signs-profiles.json.gz")
    structures = data.read("r4-structure-definitions.json.gz")

    assert generation.written(profiles, structures) == (DEFINITIONS / "vital_signs.json").read_bytes()
