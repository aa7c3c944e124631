"""A small world for the rules: tables, a patient, items, and short ways to run the engine over them."""

from datetime import UTC, date, datetime
from decimal import Decimal

from prescriptions.medications.knowledge import AllergyTerm, Dose, Interaction, Knowledge, Medication, TableVersion
from prescriptions.validation.codes import LOINC, RXNORM, SNOMED
from prescriptions.validation.engine import run
from prescriptions.validation.facts import facts_of
from prescriptions.validation.inputs import Inputs, Item, PatientRecord, Policies, Prescriber
from prescriptions.validation.issues import Severity
from prescriptions.validation.rules import RULES

AMOXICILLIN, WARFARIN, IBUPROFEN, NAPROXEN, METFORMIN = "308192", "855332", "310965", "849574", "860975"
AT = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)
TODAY = date(2026, 3, 10)
UCUM = "http://unitsofmeasure.org"


def medication(code, display, ingredients, classes=(), form="Oral Tablet", strength="", unit="mg", schedule=""):
    return Medication(
        RXNORM, code, display, tuple(ingredients), tuple(classes), form, strength, unit, schedule, "platform", 1
    )


MEDICATIONS = [
    medication("308192", "Amoxicillin 500 MG Oral Tablet", ["amoxicillin"], ["penicillins"], strength="500 mg"),
    medication("834101", "Penicillin V Potassium 500 MG", ["penicillin v"], ["penicillins"], strength="500 mg"),
    medication("562251", "Amoxicillin 250 MG / Clavulanate 125 MG Oral Tablet", ["amoxicillin", "clavulanate"], ["penicillins"], strength="250 mg;125 mg"),
    medication("855332", "Warfarin Sodium 5 MG Oral Tablet", ["warfarin"], ["anticoagulants"], strength="5 mg"),
    medication("310965", "Ibuprofen 200 MG Oral Tablet", ["ibuprofen"], ["nsaids"], strength="200"),
    medication("849574", "Naproxen sodium 220 MG Oral Tablet", ["naproxen"], ["nsaids"], strength="220 mg"),
    medication("1804799", "Alteplase 100 MG Injection", ["alteplase"], ["thrombolytics"], form="Injection", strength="100 mg"),
    medication("313782", "Acetaminophen 325 MG Oral Tablet", ["acetaminophen"], ["analgesics"], strength="325 mg"),
    medication("syrup", "Acetaminophen 250 mg/5 mL Oral Suspension", ["acetaminophen"], ["analgesics"], form="Oral Suspension", strength="250 mg/5 mL"),
    medication("1049221", "Acetaminophen 325 MG / oxyCODONE 5 MG Oral Tablet", ["acetaminophen", "oxycodone"], ["opioids"], strength="325/5", schedule="II"),
    medication("563026", "Diazepam [Valium]", ["diazepam"], ["benzodiazepines"], strength="5 mg", schedule="IV"),
    medication("860975", "Metformin 500 MG Oral Tablet", ["metformin"], ["biguanides"], strength="500 mg"),
    medication("106258", "Hydrocortisone 10 MG/ML Topical Cream", ["hydrocortisone"], ["steroids"], form="Topical Cream", strength="10 mg/mL"),
]  # fmt: skip
INTERACTIONS = [
    Interaction("warfarin", "nsaids", "high", "Bleeding.", "demonstration"),
    Interaction("warfarin", "alteplase", "contraindicated", "Severe bleeding.", "demonstration"),
    Interaction("acetaminophen", "warfarin", "low", "Watch the INR.", "demonstration"),
    Interaction("diazepam", "opioids", "moderate", "Sedation.", "demonstration"),
    Interaction("pregnancy", "warfarin", "contraindicated", "Malformations.", "demonstration"),
    Interaction("nsaids", "pregnancy", "low", "Late pregnancy.", "demonstration"),
    Interaction("lactation", "diazepam", "high", "Passes into milk.", "demonstration"),
    Interaction("renal impairment", "metformin", "moderate", "Lactic acidosis.", "demonstration"),
    Interaction("acetaminophen", "hepatic impairment", "moderate", "Toxic to the liver.", "demonstration"),
]


def dose(
    ingredient, single=None, daily=None, unit="mg", route="", ages=(None, None), weights=(None, None), per_kg=False
):
    bounds = [None if bound is None else Decimal(str(bound)) for bound in (*ages, *weights)]
    maxima = [None if maximum is None else Decimal(str(maximum)) for maximum in (single, daily)]
    return Dose(ingredient, route, *bounds, *maxima, unit, per_kg)


DOSES = [
    dose("acetaminophen", "1", "4", "g", ages=(12, None)),
    dose("acetaminophen", "15", "75", "mg", ages=(0, 12), per_kg=True),
    dose("ibuprofen", "800", "2400", ages=(18, None)),
    dose("metformin", "1000", "2000"),
]
ALLERGY_TERMS = [
    AllergyTerm(SNOMED, "91936005", "class", "penicillins"),
    AllergyTerm(SNOMED, "294505008", "ingredient", "amoxicillin"),
]
VERSIONS = (TableVersion("medications", "platform-1"), TableVersion("doses", "tenant-3"))


def tables(
    medications=MEDICATIONS, interactions=INTERACTIONS, doses=DOSES, allergy_terms=ALLERGY_TERMS, versions=VERSIONS
):
    by_code = {(row.system, row.code): row for row in medications}
    return Knowledge(by_code, tuple(interactions), tuple(doses), tuple(allergy_terms), versions)


KNOWLEDGE = tables()


def tablets(count="1", frequency=1, period="1", period_unit="d", **changes):
    told = {"text": "as told", "dose": {"value": count, "unit": "{tablet}"}, "route": "oral"}
    return told | {"frequency": frequency, "period": period, "period_unit": period_unit} | changes


def item(code="860975", line=1, **changes):
    values = {
        "system": RXNORM,
        "code": code,
        "display": f"drug {code}",
        "dosage": [tablets()],
        "quantity": Decimal(30),
        "quantity_unit": "{tablet}",
    }
    return Item(line=line, **(values | changes))


def patient(born="1980-05-02", **changes):
    return {
        "resourceType": "Patient",
        "id": "p",
        "name": [{"family": "Keyes"}],
        "gender": "female",
        "birthDate": born,
    } | changes


def concept(code, system=SNOMED, text=""):
    return {"coding": [{"system": system, "code": code}]} | ({"text": text} if text else {})


def status(code, kind="clinical"):
    return {"coding": [{"system": f"http://terminology.hl7.org/CodeSystem/{kind}", "code": code}]}


def allergy(code, system=SNOMED, **changes):
    return {
        "resourceType": "AllergyIntolerance",
        "clinicalStatus": status("active"),
        "code": concept(code, system),
    } | changes


def condition(code, system=SNOMED, **changes):
    return {"resourceType": "Condition", "clinicalStatus": status("active"), "code": concept(code, system)} | changes


def observation(code, when="2026-01-01", **value):
    told = {"resourceType": "Observation", "id": f"{code}-{when}", "status": "final", "code": concept(code, LOINC)}
    return told | {"effectiveDateTime": when} | value


def quantity(value, unit):
    return {"valueQuantity": {"value": Decimal(str(value)), "unit": unit, "system": UCUM, "code": unit}}


def weight(value, unit="kg", when="2026-01-01"):
    return observation("29463-7", when, **quantity(value, unit))


def statement(code, name="s1", **changes):
    return {
        "resourceType": "MedicationStatement",
        "id": name,
        "status": "active",
        "medicationCodeableConcept": concept(code, RXNORM),
    } | changes


NO_ALLERGIES = allergy("716186003")
LICENSED = Prescriber(
    "dr", {"resourceType": "Practitioner", "id": "dr", "qualification": [{"identifier": [{"value": "L-1"}]}]}
)


KEYES = patient()


def inputs(*items, patient=KEYES, allergies=(NO_ALLERGIES,), **changes):
    """Inputs for some items (metformin if none is named); what is not a member of Inputs goes into the record."""
    members = {name: changes.pop(name) for name in list(changes) if name in Inputs.__dataclass_fields__}
    record = PatientRecord(patient, allergies, **changes)
    values = {
        "items": items or (item(),),
        "record": record,
        "knowledge": KNOWLEDGE,
        "at": AT,
        "today": TODAY,
        "prescriber": LICENSED,
    }
    return Inputs(**(values | members))


def policies(**changes):
    return Policies.of(changes)


def found(code, given):
    """The evaluated findings of one rule: severity and lines."""
    return [(one.severity.value, one.lines) for one in RULES[code].find(facts_of(given)) if one.evaluated]


def gaps(code, given):
    """What one rule could not evaluate, by cause."""
    told = [one for one in RULES[code].find(facts_of(given)) if not one.evaluated]
    assert all(one.severity is Severity.INFO for one in told)
    return sorted({one.read["cause"] for one in told})


def issue(given, code, **arguments):
    """The only evaluated issue of a rule in a whole run."""
    (one,) = [one for one in run(given, **arguments).issues if one.code == code and one.evaluated]
    return one
