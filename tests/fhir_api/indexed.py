"""What small resources are found by, for the tests of indexing."""

from fhir_api.definitions.parameters import parameter
from fhir_api.entries import Entries
from fhir_api.indexing import index
from fhir_api.keys import code_form, system_code_form

LOINC, UCUM = "http://loinc.org", "http://unitsofmeasure.org"
CODE = {"coding": [{"system": LOINC, "code": "8480-6", "display": "Systolic"}]}
FORMS = (code_form("8480-6"), system_code_form(LOINC, "8480-6"))


def number(type_name, code):
    return parameter(type_name, code).number


def observation(**members):
    return {"resourceType": "Observation", "status": "final", "code": CODE, **members}


def more(resource, plain):
    """What one resource is found by and the other is not."""
    one, other = index(resource), index(plain)
    return Entries(
        postings=one.postings - other.postings,
        dates=one.dates - other.dates,
        strings=one.strings - other.strings,
        quantities=one.quantities - other.quantities,
        positions=one.positions - other.positions,
        parameters=one.parameters - other.parameters,
    )


def of_observation(**members):
    return more(observation(**members), observation())


def of_patient(**members):
    return more({"resourceType": "Patient", **members}, {"resourceType": "Patient"})
