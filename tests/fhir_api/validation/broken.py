"""Resources that break one rule each: the resource, the expression of its one issue, and the issue's code.

The names begin with the numbers of the forty points.
"""

from decimal import Decimal

from .resources import observation, patient

URL = "http://example.org/extension"
UCUM = "http://unitsofmeasure.org"


def encounter(**members):
    return {"resourceType": "Encounter", "status": "finished", "class": {"code": "AMB"}, **members}


def request(**members):
    return {
        "resourceType": "MedicationRequest",
        "status": "active",
        "intent": "order",
        "medicationCodeableConcept": {"text": "a medicine"},
        "subject": {"reference": "Patient/1"},
        **members,
    }


def without(resource, name):
    return {key: value for key, value in resource.items() if key != name}


VALUES = {
    # 17: not a resource of this interface
    "17 no resourceType": ({}, "", "structure"),
    "17 resourceType of another type": ({"resourceType": "Bundle"}, "", "structure"),
    "17 resourceType in the wrong case": ({"resourceType": "patient"}, "", "structure"),
    "17 resourceType of another kind": ({"resourceType": ["Patient"]}, "", "structure"),
    # 16: the expression is FHIRPath, whatever is wrong
    "16 unknown element": (patient(nickname="J"), "Patient.nickname", "structure"),
    "16 unknown element of a list": (patient(name=[{"famly": "Roe"}]), "Patient.name[0].famly", "structure"),
    "16 member with no name": (patient(**{"Jane Roe": 1}), "Patient", "structure"),
    "16 missing status": (without(observation(), "status"), "Observation.status", "required"),
    "16 missing code": (without(observation(), "code"), "Observation.code", "required"),
    "16 missing choice": (
        without(request(), "medicationCodeableConcept"),
        "MedicationRequest.medication",
        "required",
    ),
    "16 missing class": (without(encounter(), "class"), "Encounter.class", "required"),
    "16 missing in an inner element": (patient(link=[{"type": "refer"}]), "Patient.link[0].other", "required"),
    "16 missing url of an extension": (
        patient(extension=[{"valueString": "a"}]),
        "Patient.extension[0].url",
        "required",
    ),
    "16 name of a modern version": (patient(animal={"species": {"text": "dog"}}), "Patient.animal", "structure"),
    "16 code not of the required binding": (patient(gender="mmale"), "Patient.gender", "code-invalid"),
    "16 code in the wrong case": (observation(status="Final"), "Observation.status", "code-invalid"),
    "16 code in a list": (patient(telecom=[{"system": "pager2"}]), "Patient.telecom[0].system", "code-invalid"),
    "16 code of a currency": (
        patient(extension=[{"url": URL, "valueMoney": {"value": 1, "currency": "DEM5"}}]),
        "Patient.extension[0].value.ofType(Money).currency",
        "code-invalid",
    ),
    "16 concept not of the required binding": (
        {
            "resourceType": "Condition",
            "subject": {"reference": "Patient/1"},
            "clinicalStatus": {"coding": [{"system": "http://example.org", "code": "active"}]},
        },
        "Condition.clinicalStatus",
        "code-invalid",
    ),
    # 18: null, empty, shapes
    "18 object for a boolean": (patient(active={"id": "1"}), "Patient.active", "structure"),
    "18 object in a list of strings": (
        patient(name=[{"given": [{"id": "1"}]}]),
        "Patient.name[0].given[0]",
        "structure",
    ),
    "18 object for a list": (patient(name={"family": "Roe"}), "Patient.name", "structure"),
    "18 string for a list": (patient(name="Jane"), "Patient.name", "structure"),
    "18 list for a code": (patient(gender=["male"]), "Patient.gender", "structure"),
    "18 list for an object": (patient(maritalStatus=[{"text": "a"}]), "Patient.maritalStatus", "structure"),
    "18 string for an object": (patient(maritalStatus="married"), "Patient.maritalStatus", "structure"),
    "18 empty list": (patient(name=[]), "Patient.name", "structure"),
    "18 empty object in a list": (patient(name=[{}]), "Patient.name[0]", "structure"),
    "18 empty object": (patient(maritalStatus={}), "Patient.maritalStatus", "structure"),
    "18 null in a list of objects": (patient(name=[None]), "Patient.name[0]", "structure"),
    "18 null object": (patient(maritalStatus=None), "Patient.maritalStatus", "structure"),
    "18 null primitive": (patient(birthDate=None), "Patient.birthDate", "structure"),
    "18 null code": (patient(gender=None), "Patient.gender", "structure"),
    "18 null boolean": (patient(active=None), "Patient.active", "structure"),
    "18 empty string": (patient(birthDate=""), "Patient.birthDate", "value"),
    "18 empty string in a list": (patient(name=[{"given": ["a", ""]}]), "Patient.name[0].given[1]", "value"),
    "18 empty sibling": (patient(_gender={}), "Patient.gender", "structure"),
    "18 null sibling": (patient(_gender=None), "Patient.gender", "structure"),
    "18 empty extension list": (patient(extension=[]), "Patient.extension", "structure"),
    # 19: primitives
    "19 boolean as number": (patient(active=1), "Patient.active", "value"),
    "19 boolean as text": (patient(active="true"), "Patient.active", "value"),
    "19 integer too large": (patient(multipleBirthInteger=2**31), "Patient.multipleBirth.ofType(integer)", "value"),
    "19 integer of 40 digits": (patient(multipleBirthInteger=10**40), "Patient.multipleBirth.ofType(integer)", "value"),
    "19 integer with a point": (
        patient(multipleBirthInteger=Decimal("1.0")),
        "Patient.multipleBirth.ofType(integer)",
        "value",
    ),
    "19 integer nought with a sign": (
        patient(multipleBirthInteger=Decimal("-0")),
        "Patient.multipleBirth.ofType(integer)",
        "value",
    ),
    "19 integer as text": (patient(multipleBirthInteger="2"), "Patient.multipleBirth.ofType(integer)", "value"),
    "19 integer as boolean": (patient(multipleBirthInteger=True), "Patient.multipleBirth.ofType(integer)", "value"),
    "19 positive integer zero": (patient(telecom=[{"rank": 0}]), "Patient.telecom[0].rank", "value"),
    "19 decimal as text": (
        observation(valueQuantity={"value": "9.2"}),
        "Observation.value.ofType(Quantity).value",
        "value",
    ),
    "19 decimal out of range": (
        observation(valueQuantity={"value": Decimal("1e400")}),
        "Observation.value.ofType(Quantity).value",
        "value",
    ),
    "19 date of no calendar": (patient(birthDate="2023-02-30"), "Patient.birthDate", "value"),
    "19 date of no leap year": (patient(birthDate="1900-02-29"), "Patient.birthDate", "value"),
    "19 date with a time": (patient(birthDate="2000-01-01T00:00:00Z"), "Patient.birthDate", "value"),
    "19 date of the wrong form": (patient(birthDate="01.02.2000"), "Patient.birthDate", "value"),
    "19 date with a month 13": (patient(birthDate="2000-13"), "Patient.birthDate", "value"),
    "19 date with a line break": (patient(birthDate="2000-01-01\n"), "Patient.birthDate", "value"),
    "19 dateTime without zone": (
        observation(effectiveDateTime="2020-01-01T10:00:00"),
        "Observation.effective.ofType(dateTime)",
        "value",
    ),
    "19 dateTime without seconds": (
        observation(effectiveDateTime="2020-01-01T10:00Z"),
        "Observation.effective.ofType(dateTime)",
        "value",
    ),
    "19 dateTime of no calendar": (
        observation(effectiveDateTime="2021-02-29T10:00:00Z"),
        "Observation.effective.ofType(dateTime)",
        "value",
    ),
    "19 dateTime of hour 24": (
        observation(effectiveDateTime="2021-02-28T24:00:00Z"),
        "Observation.effective.ofType(dateTime)",
        "value",
    ),
    "19 dateTime with ten digits": (
        observation(effectiveDateTime="2021-02-28T23:00:00.0123456789Z"),
        "Observation.effective.ofType(dateTime)",
        "value",
    ),
    "19 dateTime of zone 15": (
        observation(effectiveDateTime="2021-02-28T23:00:00+14:01"),
        "Observation.effective.ofType(dateTime)",
        "value",
    ),
    "19 instant of a day": (observation(issued="2020-01-01"), "Observation.issued", "value"),
    "19 instant without zone": (observation(issued="2020-01-01T00:00:00"), "Observation.issued", "value"),
    "19 time with zone": (observation(valueTime="10:00:00Z"), "Observation.value.ofType(time)", "value"),
    "19 id of 65 letters": (patient(id="a" * 65), "Patient.id", "value"),
    "19 id with an underscore": (patient(id="a_b"), "Patient.id", "value"),
    "19 uri with a space": (patient(implicitRules="http://a b"), "Patient.implicitRules", "value"),
    "19 code with two spaces": (patient(language="de  AT"), "Patient.language", "value"),
    "19 code with a space ahead": (patient(language=" de"), "Patient.language", "value"),
    "19 code with a tab inside": (patient(language="de\tAT"), "Patient.language", "value"),
    "19 code with a line break inside": (
        observation(code={"coding": [{"code": "a\nb"}]}),
        "Observation.code.coding[0].code",
        "value",
    ),
    "19 content type with a line break inside": (
        patient(photo=[{"contentType": "text/plain;\ncharset=utf-8"}]),
        "Patient.photo[0].contentType",
        "value",
    ),
    "19 uri by a uuid that is none": (
        observation(code={"coding": [{"system": "urn:uuid:xyz"}]}),
        "Observation.code.coding[0].system",
        "value",
    ),
    "19 uri by an oid that is none": (
        patient(identifier=[{"system": "urn:oid:3.4", "value": "1"}]),
        "Patient.identifier[0].system",
        "value",
    ),
    "19 uri by an oid with a nought in front": (
        patient(extension=[{"url": "urn:oid:01.2", "valueString": "a"}]),
        "Patient.extension[0].url",
        "value",
    ),
    "19 canonical by a uuid that is none": (
        patient(meta={"profile": ["urn:uuid:"]}),
        "Patient.meta.profile[0]",
        "value",
    ),
    "relative url of an extension": (
        patient(extension=[{"url": "race", "valueString": "a"}]),
        "Patient.extension[0].url",
        "value",
    ),
    "relative url of an extension of a primitive": (
        patient(birthDate="2000", _birthDate={"extension": [{"url": "#time", "valueTime": "10:00:00"}]}),
        "Patient.birthDate.extension[0].url",
        "value",
    ),
    "relative url of an extension of a value of an extension": (
        patient(extension=[{"url": URL, "valueCoding": {"code": "a", "extension": [{"url": "b", "valueCode": "c"}]}}]),
        "Patient.extension[0].value.ofType(Coding).extension[0].url",
        "value",
    ),
    "id of two elements": (
        patient(name=[{"id": "a", "family": "Roe"}, {"id": "a", "family": "Doe"}]),
        "Patient.name[1].id",
        "value",
    ),
    "id of an element and of a primitive": (
        patient(id="1", name=[{"id": "a", "given": ["Jane"], "_given": [{"id": "a"}]}]),
        "Patient.name[0].given[0].id",
        "value",
    ),
    "id of two elements of a contained resource": (
        observation(
            contained=[patient(id="p", name=[{"id": "a", "family": "b"}], maritalStatus={"id": "a", "text": "c"})],
            subject={"reference": "#p"},
        ),
        "Observation.contained[0].maritalStatus.id",
        "value",
    ),
    "19 text with a control character": (patient(name=[{"family": "a\x00b"}]), "Patient.name[0].family", "value"),
    "19 text with half a character": (patient(name=[{"family": "a\ud800"}]), "Patient.name[0].family", "value"),
    "19 base64 of three letters": (
        patient(photo=[{"contentType": "image/png", "data": "TWF"}]),
        "Patient.photo[0].data",
        "value",
    ),
    "19 content type in no form": (patient(photo=[{"contentType": "png"}]), "Patient.photo[0].contentType", "value"),
    "19 oid in no form": (
        patient(extension=[{"url": URL, "valueOid": "1.2.3"}]),
        "Patient.extension[0].value.ofType(oid)",
        "value",
    ),
    "19 uuid in no form": (
        patient(extension=[{"url": URL, "valueUuid": "urn:uuid:c757873d"}]),
        "Patient.extension[0].value.ofType(uuid)",
        "value",
    ),
    # 20: siblings
    "20 sibling of a complex element": (patient(_name={"id": "1"}), "Patient.name", "structure"),
    "20 sibling of nothing": (patient(_unknown={"id": "1"}), "Patient.unknown", "structure"),
    "20 sibling is a text": (patient(_active="test"), "Patient.active", "structure"),
    "20 sibling is a list": (patient(_active=[{"id": "test"}]), "Patient.active", "structure"),
    "20 siblings are no list": (
        patient(name=[{"given": ["a"], "_given": {"id": "b"}}]),
        "Patient.name[0].given",
        "structure",
    ),
    "20 sibling with an unknown member": (
        patient(name=[{"given": ["a"], "_given": [{"foo": "b"}]}]),
        "Patient.name[0].given[0].foo",
        "structure",
    ),
    "20 null with no sibling": (patient(name=[{"given": [None, "b"]}]), "Patient.name[0].given[0]", "structure"),
    "20 null with a null sibling": (
        patient(name=[{"given": ["a", None], "_given": [{"id": "x"}, None]}]),
        "Patient.name[0].given[1]",
        "structure",
    ),
    "20 siblings of nulls alone": (patient(name=[{"_given": [None]}]), "Patient.name[0].given", "structure"),
    "20 date in a sibling": (
        patient(birthDate="2000", _birthDate={"extension": [{"url": URL, "valueDate": "2000-02-30"}]}),
        "Patient.birthDate.extension[0].value.ofType(date)",
        "value",
    ),
    # 21: choices
    "21 two of a choice": (patient(deceasedBoolean=True, deceasedDateTime="2020"), "Patient.deceased", "structure"),
    "21 two of a choice, one by its sibling": (
        observation(valueString="a", _valueInteger={"extension": [{"url": URL, "valueString": "x"}]}),
        "Observation.value",
        "structure",
    ),
    "21 two of a choice in a list": (
        observation(component=[{"code": {"text": "b"}, "valueString": "a", "valueInteger": 1}]),
        "Observation.component[0].value",
        "structure",
    ),
    "21 two values of an extension": (
        patient(extension=[{"url": URL, "valueString": "a", "valueCode": "b"}]),
        "Patient.extension[0].value",
        "structure",
    ),
    "21 type that is not of the choice": (
        observation(valueDecimal=1),
        "Observation.value.ofType(decimal)",
        "structure",
    ),
    "21 choice without its type": (observation(value="a"), "Observation.value", "structure"),
}
