"""What resources are found by, in the keys that a search makes."""

from decimal import Decimal

import pytest
from django.conf import settings

from fhir_api import keys
from fhir_api.dates import span
from fhir_api.definitions.parameters import BY_TYPE
from fhir_api.entries import Entries
from fhir_api.indexing import index
from fhir_api.keys import normal
from fhir_api.resources.types import NUMBERS
from tests.fhir_api.indexed import LOINC, more, number, observation, of_observation, of_patient


@pytest.mark.parametrize("type_name", sorted(NUMBERS))
def test_empty_resource_is_found_by_nothing_but_what_every_one_tells(type_name):
    entries = index({"resourceType": type_name})

    if type_name == "Patient":
        deceased = number("Patient", "deceased")
        assert entries == Entries(postings={keys.code_key(deceased, "false")}, parameters={deceased})
    else:
        assert entries == Entries()


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({}, "false"),
        ({"deceasedBoolean": False}, "false"),
        ({"deceasedBoolean": True}, "true"),
        ({"deceasedDateTime": "2015"}, "true"),
    ],
)
def test_deceased_is_told_of_every_patient(members, told):
    assert keys.code_key(number("Patient", "deceased"), told) in index({"resourceType": "Patient", **members}).postings


def test_coding_is_found_by_code_and_system_and_display():
    category = number("Observation", "category")
    codings = [{"system": "s", "code": "c", "display": "Vital  SIGNS"}, {"code": "bare"}, {"system": "only"}]

    found = of_observation(category=[{"coding": codings, "text": "Größe"}])

    assert found == Entries(
        postings={
            *keys.token_keys(category, "s", "c"),
            keys.code_key(category, "bare"),
            keys.system_code_key(category, "", "bare"),
            keys.system_key(category, "only"),
        },
        strings={(keys.text_key(category), "vital signs"), (keys.text_key(category), "grosse")},
        parameters={category},
    )


def test_concept_with_text_only_is_not_missing():
    method = number("Observation", "method")

    assert of_observation(method={"text": "By hand"}) == Entries(
        strings={(keys.text_key(method), "by hand")}, parameters={method}
    )


def test_code_has_the_system_of_its_binding():
    gender, system = number("Patient", "gender"), "http://hl7.org/fhir/administrative-gender"

    assert of_patient(gender="male").postings == {
        *keys.token_keys(gender, system, "male"),
        keys.system_code_key(gender, "", "male"),
    }


def test_boolean_and_contact_point_have_no_system():
    active, phone, telecom = (number("Patient", code) for code in ("active", "phone", "telecom"))

    found = of_patient(active=True, telecom=[{"system": "phone", "value": "+49 1"}, {"system": "email"}])

    assert found.postings == {
        keys.code_key(active, "true"),
        keys.code_key(phone, "+49 1"),
        keys.code_key(telecom, "+49 1"),
    }
    assert found.parameters == {active, phone, telecom, number("Patient", "email")}


def test_identifier_is_found_by_value_and_type():
    identifier = number("Patient", "identifier")
    kind = {"coding": [{"system": "t", "code": "MR"}, {"code": "no-system"}], "text": "Medical record"}

    found = of_patient(identifier=[{"system": "s", "value": "12", "type": kind}, {"type": kind}])

    assert found == Entries(
        postings={*keys.token_keys(identifier, "s", "12"), keys.of_type_key(identifier, "t", "MR", "12")},
        strings={(keys.text_key(identifier), "medical record")},
        parameters={identifier},
    )


@pytest.mark.parametrize(
    "reference",
    [
        "Patient/1",
        "Patient/1/_history/3",
        f"{settings.FHIR_BASE_URL}/Patient/1",
        f"{settings.FHIR_BASE_URL}/Patient/1/_history/3",
    ],
)
def test_reference_to_a_resource_here_is_found_by_its_target(reference):
    subject, patient = number("Observation", "subject"), number("Observation", "patient")
    target = keys.target_key("Patient", "1")

    code = keys.system_code_key(number("Observation", "code"), LOINC, "8480-6")
    assert of_observation(subject={"reference": reference}) == Entries(
        postings={
            keys.reference_key(subject, target),
            keys.reference_key(patient, target),
            keys.patients_code_key(target, code),
        },
        parameters={subject, patient},
    )


@pytest.mark.parametrize(
    ("reference", "compared", "of_patient"),
    [
        ("http://elsewhere.org/fhir/Patient/1", "http://elsewhere.org/fhir/Patient/1", True),
        ("http://elsewhere.org/fhir/Patient/1/_history/2", "http://elsewhere.org/fhir/Patient/1", True),
        ("http://elsewhere.org/fhir/Group/1", "http://elsewhere.org/fhir/Group/1", False),
        ("urn:uuid:c757873d-ec9a-4326-a141-556f43239520", "urn:uuid:c757873d-ec9a-4326-a141-556f43239520", False),
    ],
)
def test_reference_elsewhere_is_found_by_its_address(reference, compared, of_patient):
    subject, patient = number("Observation", "subject"), number("Observation", "patient")
    wanted = {subject, patient} if of_patient else {subject}

    found = of_observation(subject={"reference": reference})

    assert found == Entries(postings={keys.uri_key(one, compared) for one in wanted}, parameters=wanted)


def test_reference_by_identifier_is_found_by_it():
    subject, patient = number("Observation", "subject"), number("Observation", "patient")
    value = {"type": "Patient", "identifier": {"system": "s", "value": "12"}}

    assert of_observation(subject=value) == Entries(
        postings={*keys.identifier_keys(subject, "s", "12"), *keys.identifier_keys(patient, "s", "12")},
        parameters={subject, patient},
    )
    assert of_observation(subject={"identifier": value["identifier"]}).parameters == {subject}


def test_reference_to_what_is_contained_is_there_but_not_found():
    subject = number("Observation", "subject")

    assert of_observation(subject={"reference": "#one"}) == Entries(parameters={subject})
    assert of_observation(subject={"display": "Someone"}) == Entries(parameters={subject})


def test_name_is_found_by_each_of_its_parts():
    given, family, name = (number("Patient", code) for code in ("given", "family", "name"))
    human = {
        "family": "Ångström",
        "given": ["Ada", None, "Maria"],
        "prefix": ["Dr."],
        "suffix": ["MD"],
        "text": "Ada A",
    }

    found = of_patient(name=[{**human, "_given": [None, {"extension": []}, None]}])

    strings = {value for key, value in found.strings if key == keys.string_key(name)}
    assert strings == {"angstrom", "ada", "maria", "dr.", "md", "ada a"}
    assert {value for key, value in found.strings if key == keys.string_key(given)} == {"ada", "maria"}
    assert keys.exact_key(family, "Ångström") in found.postings
    assert keys.exact_key(family, "Angstrom") not in found.postings


def test_address_is_found_by_each_of_its_parts():
    address = number("Patient", "address")
    parts = {"line": ["1 High St"], "city": "Köln", "district": "D", "state": "NRW", "postalCode": "50667"}

    found = of_patient(address=[{**parts, "country": "DE", "text": "All", "use": "home", "period": {"start": "2015"}}])

    strings = {value for key, value in found.strings if key == keys.string_key(address)}
    assert strings == {"1 high st", "koln", "d", "nrw", "50667", "de", "all"}
    assert (keys.string_key(number("Patient", "address-city")), "koln") in found.strings


def test_location_is_found_by_its_place():
    near, plain = number("Location", "near"), {"resourceType": "Location"}

    found = more({**plain, "position": {"latitude": Decimal("50.9"), "longitude": Decimal("-6.9")}}, plain)

    assert found == Entries(positions={(50.9, -6.9)}, parameters={near})


def test_meta_is_found_but_not_id_and_time():
    profile, source, tag = (number("Patient", code) for code in ("_profile", "_source", "_tag"))
    meta = {
        "profile": ["http://p|1.0"],
        "source": "urn:s#1",
        "tag": [{"code": "t"}],
        "lastUpdated": "2015-01-01T00:00:00Z",
    }

    found = of_patient(id="1", meta={**meta, "versionId": "3"})

    assert found == Entries(
        postings={
            keys.uri_key(profile, "http://p|1.0"),
            keys.uri_key(profile, "http://p"),
            keys.uri_key(source, "urn:s#1"),
            *keys.token_keys(tag, None, "t"),
        },
        parameters={profile, source, tag},
    )


def test_extension_is_found_by_its_value():
    base = "http://hl7.org/fhir/StructureDefinition/"
    gene, variant = number("Observation", "gene-identifier"), number("Observation", "dna-variant")
    assessed, plain = number("DiagnosticReport", "assessed-condition"), {"resourceType": "DiagnosticReport"}
    concept = {"coding": [{"system": "g", "code": "BRCA"}], "text": "Gene"}

    genes = of_observation(extension=[{"url": f"{base}observation-geneticsGene", "valueCodeableConcept": concept}])
    texts = of_observation(extension=[{"url": f"{base}observation-geneticsDnaVariant", "valueString": "c.1"}])
    reports = {
        "url": f"{base}DiagnosticReport-geneticsAssessedCondition",
        "valueReference": {"reference": "Condition/1"},
    }

    assert set(keys.token_keys(gene, "g", "BRCA")) <= genes.postings
    assert (keys.string_key(variant), "c.1") in texts.strings
    assert more({**plain, "extension": [reports]}, plain).postings == {
        keys.reference_key(assessed, keys.target_key("Condition", "1"))
    }
    assert of_observation(extension=[{"url": "http://other", "valueString": "x"}]) == Entries()


def test_what_us_core_asks_for_is_found():
    asserted, disposition = number("Condition", "asserted-date"), number("Encounter", "discharge-disposition")
    condition, encounter = {"resourceType": "Condition"}, {"resourceType": "Encounter"}
    extension = {"url": "http://hl7.org/fhir/StructureDefinition/condition-assertedDate", "valueDateTime": "2015-02"}
    home = {"coding": [{"system": "d", "code": "home"}]}

    assert more({**condition, "extension": [extension]}, condition) == Entries(
        dates={(keys.date_key(asserted), *span("2015-02"))}, parameters={asserted}
    )
    assert more({**encounter, "hospitalization": {"dischargeDisposition": home}}, encounter) == Entries(
        postings=set(keys.token_keys(disposition, "d", "home")), parameters={disposition}
    )


def test_text_is_compared_without_case_accents_and_wide_spaces():
    assert normal("  ÉMILE\u00a0\n  Straße ") == "emile strasse"
    assert normal("BJØRN ǿ Łódź Đ Ð Ħ ıİ Ŋ") == "bjorn o lodz d d h ii n"
    assert normal("Ægir Ǽ Œuvre Þór") == "aegir ae oeuvre thor"
    assert len(normal("é" * 1000)) == keys.LONGEST


def test_same_content_makes_the_same_entries():
    one = observation(valueQuantity={"value": Decimal("1.10")}, effectiveDateTime="2015-02-07T13:28:17+00:00")
    other = observation(valueQuantity={"value": Decimal("1.1")}, effectiveDateTime="2015-02-07T13:28:17Z")

    assert index(one) == index(other)
    assert {BY_TYPE["Observation"]["code"].number} <= index(one).parameters


def test_observation_is_found_by_patient_and_code():
    """Codings without a code and subjects who are no patients of this server are found by the code alone."""
    codes = [{"system": "s", "code": "c"}, {"code": "bare"}, {"system": "only"}]
    concept = {"coding": codes}
    patient, code = keys.target_key("Patient", "eva"), number("Observation", "code")
    both = {
        keys.patients_code_key(patient, keys.system_code_key(code, system, value))
        for system, value in (("s", "c"), ("", "bare"))
    }

    assert len(both) == 2
    for subject in ("Patient/eva", "Patient/eva/_history/2", f"{settings.FHIR_BASE_URL}/Patient/eva"):
        assert both <= index(observation(code=concept, subject={"reference": subject})).postings
    for subject in ("Group/eva", "urn:uuid:0", "#eva", "https://elsewhere.example/Patient/eva"):
        assert not both & index(observation(code=concept, subject={"reference": subject})).postings
    condition = {"resourceType": "Condition", "code": concept, "subject": {"reference": "Patient/eva"}}
    assert not both & index(condition).postings
