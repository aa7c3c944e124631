"""FHIRPath Patch: each operation on each sort of element, paths, refusals, documents built to hurt."""

import contextlib
import copy

import pytest
from hypothesis import given
from hypothesis import strategies as some

from fhir_api.patching import Kind, Patch, PatchRefused, apply_patch
from tests.fhir_api.patching.test_patches import fhirpath

PATIENT = {
    "resourceType": "Patient",
    "id": "p1",
    "extension": [
        {"url": "http://example.org/a", "valueString": "x"},
        {"url": "http://example.org/b", "valueCode": "y"},
    ],
    "identifier": [
        {"system": "http://a", "value": "1"},
        {"system": "http://a", "value": "2"},
        {"system": "http://b", "value": "1"},
    ],
    "active": True,
    "name": [
        {"use": "official", "family": "Roe", "given": ["Jane", "Ann", "May"], "_given": [None, {"id": "g"}, None]},
        {"use": "usual", "given": ["J"]},
    ],
    "birthDate": "1970-03-30",
    "_birthDate": {"extension": [{"url": "http://example.org/time", "valueDateTime": "1970-03-30T12:00:00Z"}]},
    "deceasedBoolean": False,
    "contact": [{"gender": "male", "name": {"text": "Dad"}}, {"gender": "female"}],
}


def add(path, name, **value):
    return {"type": {"valueCode": "add"}, "path": {"valueString": path}, "name": {"valueString": name}, "value": value}


def replace(path, **value):
    return {"type": {"valueCode": "replace"}, "path": {"valueString": path}, "value": value}


def insert(path, index, **value):
    return {
        "type": {"valueCode": "insert"},
        "path": {"valueString": path},
        "index": {"valueInteger": index},
        "value": value,
    }


def delete(path):
    return {"type": {"valueCode": "delete"}, "path": {"valueString": path}}


def move(path, source, destination):
    return {
        "type": {"valueCode": "move"},
        "path": {"valueString": path},
        "source": {"valueInteger": source},
        "destination": {"valueInteger": destination},
    }


def patched(*operations, resource=None):
    return apply_patch(Patch(Kind.FHIRPATH, fhirpath(*operations)), resource or PATIENT)


def with_(**members):
    """The patient with other members; None takes one away."""
    return {name: value for name, value in {**PATIENT, **members}.items() if value is not None}


NAMES, CONTACTS, IDENTIFIERS = PATIENT["name"], PATIENT["contact"], PATIENT["identifier"]
CASES = {
    "nothing": ([], PATIENT),
    "add a primitive": ([add("Patient", "gender", valueCode="female")], with_(gender="female")),
    "add a complex element": (
        [add("Patient", "maritalStatus", valueCodeableConcept={"text": "m"})],
        with_(maritalStatus={"text": "m"}),
    ),
    "add to a list": (
        [add("Patient", "identifier", valueIdentifier={"value": "9"})],
        with_(identifier=[*IDENTIFIERS, {"value": "9"}]),
    ),
    "add the first of a list": (
        [add("Patient", "telecom", valueContactPoint={"value": "1"})],
        with_(telecom=[{"value": "1"}]),
    ),
    "add to a list of primitives": (
        [add("Patient.name[1]", "given", valueString="K")],
        with_(name=[NAMES[0], {"use": "usual", "given": ["J", "K"]}]),
    ),
    "add an inner element": (
        [add("Patient", "contact", part=[{"name": "name", "valueHumanName": {"text": "Mum"}}])],
        with_(contact=[*CONTACTS, {"name": {"text": "Mum"}}]),
    ),
    "add to an inner element": (
        [add("Patient.contact[1]", "name", valueHumanName={"text": "Mum"})],
        with_(contact=[CONTACTS[0], {"gender": "female", "name": {"text": "Mum"}}]),
    ),
    "add an extension by its parts": (
        [
            add(
                "Patient",
                "extension",
                part=[{"name": "url", "valueUri": "http://c"}, {"name": "value", "valueString": "z"}],
            )
        ],
        with_(extension=[*PATIENT["extension"], {"url": "http://c", "valueString": "z"}]),
    ),
    "add to what stands beside a primitive": (
        [add("Patient.active", "id", valueString="i")],
        with_(_active={"id": "i"}),
    ),
    "add a value with an extension": (
        [add("Patient", "gender", valueCode="female", _valueCode={"id": "i"})],
        with_(gender="female", _gender={"id": "i"}),
    ),
    "insert at the start": (
        [insert("Patient.identifier", 0, valueIdentifier={"value": "9"})],
        with_(identifier=[{"value": "9"}, *IDENTIFIERS]),
    ),
    "insert at the end": (
        [insert("Patient.identifier", 3, valueIdentifier={"value": "9"})],
        with_(identifier=[*IDENTIFIERS, {"value": "9"}]),
    ),
    "insert among primitives with extensions": (
        [insert("Patient.name[0].given", 1, valueString="Bea")],
        with_(
            name=[
                {**NAMES[0], "given": ["Jane", "Bea", "Ann", "May"], "_given": [None, None, {"id": "g"}, None]},
                NAMES[1],
            ]
        ),
    ),
    "insert into nothing": (
        [insert("Patient.photo", 0, valueAttachment={"title": "t"})],
        with_(photo=[{"title": "t"}]),
    ),
    "delete a primitive with its extension": ([delete("Patient.birthDate")], with_(birthDate=None, _birthDate=None)),
    "delete an extension of a primitive": (
        [delete("Patient.birthDate.extension('http://example.org/time')")],
        with_(_birthDate=None),
    ),
    "delete what is not there": ([delete("Patient.gender")], PATIENT),
    "delete below what is not there": ([delete("Patient.maritalStatus.coding[3].code")], PATIENT),
    "delete one of a list": ([delete("Patient.identifier[1]")], with_(identifier=[IDENTIFIERS[0], IDENTIFIERS[2]])),
    "delete one of primitives": (
        [delete("Patient.name[0].given[1]")],
        with_(name=[{"use": "official", "family": "Roe", "given": ["Jane", "May"]}, NAMES[1]]),
    ),
    "delete the last of a list": (
        [delete("Patient.contact[1]"), delete("Patient.contact[0]")],
        with_(contact=None),
    ),
    "delete what leaves nothing": ([delete("Patient.contact[1].gender")], with_(contact=[CONTACTS[0]])),
    "delete by a condition": (
        [delete("Patient.identifier.where(system='http://a' and value = '2')")],
        with_(identifier=[IDENTIFIERS[0], IDENTIFIERS[2]]),
    ),
    "delete a choice": ([delete("Patient.deceased")], with_(deceasedBoolean=None)),
    "replace a primitive": ([replace("Patient.birthDate", valueDate="1971")], with_(birthDate="1971", _birthDate=None)),
    "replace by a text": ([replace("Patient.birthDate", valueString="1971")], with_(birthDate="1971", _birthDate=None)),
    "replace in an inner element": (
        [replace("Patient.contact[0].gender", valueCode="other")],
        with_(contact=[{"gender": "other", "name": {"text": "Dad"}}, CONTACTS[1]]),
    ),
    "replace one of primitives": (
        [replace("Patient.name.where(use = 'official').given.first()", valueString="Joan")],
        with_(name=[{**NAMES[0], "given": ["Joan", "Ann", "May"]}, NAMES[1]]),
    ),
    "replace one with an extension": (
        [replace("Patient.name[0].given[1]", valueString="Eve")],
        with_(name=[{"use": "official", "family": "Roe", "given": ["Jane", "Eve", "May"]}, NAMES[1]]),
    ),
    "replace a complex element": (
        [replace("Patient.identifier.last()", valueIdentifier={"value": "9"})],
        with_(identifier=[*IDENTIFIERS[:2], {"value": "9"}]),
    ),
    "replace an inner element": (
        [replace("Patient.contact[0]", part=[{"name": "gender", "valueCode": "other"}])],
        with_(contact=[{"gender": "other"}, CONTACTS[1]]),
    ),
    "replace a choice by another type": (
        [replace("Patient.deceased", valueDateTime="2026-01-01")],
        with_(deceasedBoolean=None, deceasedDateTime="2026-01-01"),
    ),
    "replace a choice by its name in JSON": (
        [replace("Patient.deceasedBoolean", valueBoolean=True)],
        with_(deceasedBoolean=True),
    ),
    "replace a choice of a type": (
        [replace("Patient.deceased.ofType(boolean)", valueBoolean=True)],
        with_(deceasedBoolean=True),
    ),
    "replace the value of an extension": (
        [replace("Patient.extension('http://example.org/b').value", valueCode="w")],
        with_(extension=[PATIENT["extension"][0], {"url": "http://example.org/b", "valueCode": "w"}]),
    ),
    "replace by a condition on a boolean": (
        [replace("Patient.where(active = true).birthDate", valueDate="1971")],
        with_(birthDate="1971", _birthDate=None),
    ),
    "replace by what is not": (
        [replace("Patient.identifier.where(system != 'http://a').value", valueString="9")],
        with_(identifier=[*IDENTIFIERS[:2], {"system": "http://b", "value": "9"}]),
    ),
    "move": ([move("Patient.identifier", 0, 2)], with_(identifier=[IDENTIFIERS[1], IDENTIFIERS[2], IDENTIFIERS[0]])),
    "move primitives with extensions": (
        [move("Patient.name[0].given", 1, 0)],
        with_(name=[{**NAMES[0], "given": ["Ann", "Jane", "May"], "_given": [{"id": "g"}, None, None]}, NAMES[1]]),
    ),
    "one after the other": (
        [
            add("Patient", "maritalStatus", valueCodeableConcept={"text": "m"}),
            add("Patient.maritalStatus", "coding", valueCoding={"code": "M"}),
            delete("Patient.maritalStatus.text"),
        ],
        with_(maritalStatus={"coding": [{"code": "M"}]}),
    ),
}
REFUSED = {
    "add what is there": (add("Patient", "birthDate", valueDate="1971"), "patch_target_exists"),
    "add another type of a choice": (add("Patient", "deceased", valueDateTime="2026"), "patch_target_exists"),
    "add an unknown element": (add("Patient", "haircut", valueString="x"), "patch_target_missing"),
    "add to nothing": (add("Patient.maritalStatus", "text", valueString="x"), "patch_target_missing"),
    "add to several": (add("Patient.name", "family", valueString="x"), "patch_target_ambiguous"),
    "add of another type": (add("Patient", "maritalStatus", valueCoding={"code": "M"}), "patch_wrong_type"),
    "add a complex one as a primitive": (add("Patient", "gender", valueCoding={"code": "M"}), "patch_wrong_type"),
    "add a boolean as text": (add("Patient", "gender", valueBoolean=True), "patch_wrong_type"),
    "add a number that is a boolean": (add("Patient", "multipleBirth", valueInteger=True), "patch_wrong_type"),
    "add a complex one that is no object": (
        add("Patient", "maritalStatus", valueCodeableConcept="x"),
        "patch_wrong_type",
    ),
    "add parts to a primitive": (
        add("Patient", "gender", part=[{"name": "id", "valueString": "x"}]),
        "patch_wrong_type",
    ),
    "insert past the end": (insert("Patient.identifier", 4, valueIdentifier={}), "patch_target_missing"),
    "insert into what does not repeat": (insert("Patient.birthDate", 0, valueDate="1971"), "patch_target_missing"),
    "insert with a filter": (insert("Patient.name[0]", 0, valueHumanName={}), "invalid_patch_path"),
    "delete several": (delete("Patient.identifier.where(system = 'http://a')"), "patch_target_ambiguous"),
    "delete an unknown element": (delete("Patient.haircut"), "patch_target_missing"),
    "delete the resource": (delete("Patient"), "invalid_patch_path"),
    "replace nothing": (replace("Patient.gender", valueCode="male"), "patch_target_missing"),
    "replace the resource": (replace("Patient", valueCode="male"), "invalid_patch_path"),
    "replace a choice by a wrong type": (replace("Patient.deceased", valueString="yes"), "patch_wrong_type"),
    "replace by nothing": (replace("Patient.birthDate"), "invalid_patch"),
    "move from nowhere": (move("Patient.identifier", 3, 0), "patch_target_missing"),
    "move to nowhere": (move("Patient.identifier", 0, 3), "patch_target_missing"),
    "another resource's path": (delete("Observation.status"), "patch_target_missing"),
    "across resources": (delete("Patient.managingOrganization.resolve().name"), "invalid_patch_path"),
    "no path": (delete("Patient..name"), "invalid_patch_path"),
    "half a path": (delete("Patient.name.where(use = "), "invalid_patch_path"),
    "two paths": (delete("Patient.name | Patient.contact"), "invalid_patch_path"),
    "negative index": (delete("Patient.name[-1]"), "invalid_patch_path"),
    "long path": (delete("Patient" + ".name" * 1_000), "invalid_patch_path"),
    "unknown type": ({"type": {"valueCode": "spam"}, "path": {"valueString": "Patient"}}, "invalid_patch"),
    "no type": ({"path": {"valueString": "Patient"}}, "invalid_patch"),
    "negative number": (move("Patient.identifier", -1, 0), "invalid_patch"),
    "number that is a boolean": (move("Patient.identifier", True, 0), "invalid_patch"),
    "no number": ({"type": {"valueCode": "move"}, "path": {"valueString": "Patient.identifier"}}, "invalid_patch"),
    "unknown part": ({**delete("Patient.name[0]"), "spam": {"valueString": "x"}}, "invalid_patch"),
    "two values": (replace("Patient.birthDate", valueDate="1971", valueString="1972"), "invalid_patch"),
    "empty parts": (replace("Patient.contact[0]", part=[]), "invalid_patch"),
}


@pytest.mark.parametrize("case", CASES)
def test_fhirpath_patch(case):
    operations, result = CASES[case]
    before = copy.deepcopy(PATIENT)
    assert patched(*operations) == result
    assert before == PATIENT


@pytest.mark.parametrize("case", REFUSED)
def test_fhirpath_patch_that_cannot_be_carried_out_is_refused(case):
    operation, code = REFUSED[case]
    with pytest.raises(PatchRefused) as refusal:
        patched(operation)
    assert refusal.value.code == code


def test_value_that_is_no_object_is_refused_by_the_next_operation():
    with pytest.raises(PatchRefused) as refusal:
        patched(
            add("Patient", "photo", valueAttachment={"title": "t"}),
            add("Patient.photo.title", "id", valueString="x"),
            add("Patient.photo", "spam", valueString="x"),
        )
    assert refusal.value.code == "patch_target_missing"


def test_list_that_is_none_is_refused():
    with pytest.raises(PatchRefused) as refusal:
        patched(add("Patient", "name", valueHumanName={"given": "x"}), add("Patient.name[2]", "given", valueString="y"))
    assert refusal.value.code == "patch_wrong_type"


def test_contained_resources_are_reached():
    resource = {
        "resourceType": "Patient",
        "id": "a",
        "contained": [{"resourceType": "Organization", "id": "o", "name": "x"}],
    }
    result = patched(replace("Patient.contained.where(id = 'o').name", valueString="y"), resource=resource)
    assert result["contained"][0]["name"] == "y"


def test_contained_resource_of_another_type_is_read_by_its_data():
    resource = {
        "resourceType": "MedicationRequest",
        "id": "a",
        "contained": [{"resourceType": "Medication", "id": "m", "code": {"text": "x"}}],
    }
    assert "code" not in patched(delete("MedicationRequest.contained[0].code"), resource=resource)["contained"][0]


HOSTILE = {
    "operations": [delete("Patient.gender")] * 10_001,
    "lists": [
        add("Patient", "name", valueHumanName={"given": ["x"] * 200_000}),
        *[insert("Patient.name[2].given", 0, valueString="x")] * 9_000,
    ],
    "filters": [
        add("Patient", "name", valueHumanName={"given": ["x"] * 200_000}),
        *[delete("Patient.name[2].given.where(id = 'a')")] * 100,
    ],
}


@pytest.mark.parametrize("case", HOSTILE)
def test_fhirpath_patch_that_costs_too_much_is_refused(case):
    with pytest.raises(PatchRefused) as refusal:
        patched(*HOSTILE[case])
    assert refusal.value.code == "patch_too_costly"


@given(text=some.text("Patient.name[0]()='and where\\@1-!`", max_size=60))
def test_any_path_is_read_or_refused(text):
    with contextlib.suppress(PatchRefused):
        patched(delete(text or " "))


@given(source=some.integers(0, 2), destination=some.integers(0, 2))
def test_moving_there_and_back_changes_nothing(source, destination):
    assert (
        patched(move("Patient.identifier", source, destination), move("Patient.identifier", destination, source))
        == PATIENT
    )


def test_resource_is_added_where_resources_are_contained():
    inner = {"resourceType": "Practitioner", "id": "gp"}
    assert patched(add("Patient", "contained", resource=inner))["contained"] == [inner]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("photo", {"resource": {"contentType": "image/png"}}),
        ("contained", {"resource": 5}),
        ("contained", {"resource": {"resourceType": "Practitioner"}, "valueString": "x"}),
    ],
)
def test_resource_is_no_value_of_other_elements_or_beside_another(name, value):
    with pytest.raises(PatchRefused):
        patched(add("Patient", name, **value))
