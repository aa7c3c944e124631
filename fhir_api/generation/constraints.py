"""Invariants that a JSON schema can say, by the element that R4 defines them on. Source: the constraints of the StructureDefinitions."""

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, Final

Json = dict[str, Any]
Properties = Mapping[str, Any]
UCUM: Final = "http://unitsofmeasure.org"
_ALLERGY: Final = "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification"
_CLINICAL: Final = "http://terminology.hl7.org/CodeSystem/condition-clinical"
_VERIFICATION: Final = "http://terminology.hl7.org/CodeSystem/condition-ver-status"


def constraint(path: str, properties: Properties) -> list[Json]:
    """The invariants of one element as subschemas, each titled with its key."""
    return [named(key, rule(properties)) for key, rule in _RULES.get(path, {}).items()]


def named(title: str, rule: Json) -> Json:
    """A rule that breaks as a whole, at the element it is said of: one issue, whatever it is made of.

    Only a `not` does so without an account of every branch, which costs ten times the check.
    """
    return {"title": title, **rule} if rule.keys() == {"not"} else {"title": title, "not": {"not": rule}}


def exists(*names: str, among: Container[str]) -> Json:
    """One of the elements is there: its value, or what `_name` says of it."""
    every = [name for plain in names for name in (plain, "_" + plain) if name == plain or name in among]
    return {"required": every} if len(every) == 1 else {"anyOf": [{"required": [name]} for name in every]}


def coded(concepts: Iterable[tuple[str, str]]) -> Json:
    """A concept with one of these codes."""
    systems: dict[str, list[str]] = {}
    for system, code in concepts:
        systems.setdefault(system, []).append(code)
    codings = [
        {"required": ["system", "code"], "properties": {"system": {"const": system}, "code": {"enum": sorted(codes)}}}
        for system, codes in sorted(systems.items())
    ]
    return {
        "required": ["coding"],
        "properties": {"coding": {"contains": codings[0] if len(codings) == 1 else {"anyOf": codings}}},
    }


def _any(*stems: str) -> Callable[[Properties], Json]:
    """One of the elements exists; a name ending in [x] is a choice."""
    return lambda properties: exists(*_names(stems, properties), among=properties)


def _names(stems: Iterable[str], properties: Properties) -> list[str]:
    found: list[str] = []
    for stem in stems:
        start = stem.removesuffix("[x]")
        found += (
            [stem]
            if start == stem
            else [name for name in properties if name.startswith(start) and name[len(start)].isupper()]
        )
    return found


def _all(*rules: Callable[[Properties], Json]) -> Callable[[Properties], Json]:
    return lambda properties: {"allOf": [rule(properties) for rule in rules]}


def _not(rule: Callable[[Properties], Json]) -> Callable[[Properties], Json]:
    return lambda properties: {"not": rule(properties)}


def _either(*rules: Callable[[Properties], Json]) -> Callable[[Properties], Json]:
    return lambda properties: {"anyOf": [rule(properties) for rule in rules]}


def _implies(first: str, *then: str) -> Callable[[Properties], Json]:
    """Where the first element exists, one of the others does."""
    return _either(_not(_any(first)), _any(*then))


def _only_one(first: str, second: str) -> Callable[[Properties], Json]:
    return lambda properties: {"oneOf": [_any(first)(properties), _any(second)(properties)]}


def _value(name: str, schema: Json) -> Callable[[Properties], Json]:
    """What is said of an element holds where it is there."""
    return lambda _: {"properties": {name: schema}}


def _is(name: str, schema: Json) -> Callable[[Properties], Json]:
    return lambda _: {"properties": {name: schema}, "required": [name]}


def _concept(name: str, system: str, *codes: str) -> Callable[[Properties], Json]:
    return lambda _: {"required": [name], "properties": {name: coded((system, code) for code in codes)}}


_QUANTITY: Final = {"qty-3": _implies("code", "system")}
_NOT_HOME: Final = _not(_is("use", {"const": "home"}))


def _each_not_home(name: str) -> Callable[[Properties], Json]:
    return lambda properties: {"properties": {name: {"items": _NOT_HOME(properties)}}}


_RULES: Final[dict[str, dict[str, Callable[[Properties], Json]]]] = {
    "Age": {
        **_QUANTITY,
        "age-1": _all(
            _implies("value", "code"), _value("system", {"const": UCUM}), _value("value", {"exclusiveMinimum": 0})
        ),
    },
    "AllergyIntolerance": {
        "ait-1": _either(_concept("verificationStatus", _ALLERGY, "entered-in-error"), _any("clinicalStatus")),
        "ait-2": _either(
            _not(_concept("verificationStatus", _ALLERGY, "entered-in-error")), _not(_any("clinicalStatus"))
        ),
    },
    "Attachment": {"att-1": _implies("data", "contentType")},
    "CarePlan.activity": {"cpl-3": _either(_not(_any("detail")), _not(_any("reference")))},
    "Condition": {
        "con-4": _either(
            _not(_any("abatement[x]")), _concept("clinicalStatus", _CLINICAL, "resolved", "remission", "inactive")
        ),
        "con-5": _either(
            _not(_concept("verificationStatus", _VERIFICATION, "entered-in-error")), _not(_any("clinicalStatus"))
        ),
    },
    "Condition.evidence": {"con-2": _any("code", "detail")},
    "Condition.stage": {"con-1": _any("summary", "assessment")},
    "ContactPoint": {"cpt-2": _implies("value", "system")},
    "Count": {
        **_QUANTITY,
        "cnt-3": _all(
            _implies("value", "code"),
            _value("system", {"const": UCUM}),
            _value("code", {"const": "1"}),
            _value("value", {"type": "integer"}),
        ),
    },
    "DataRequirement.codeFilter": {"drq-1": _only_one("path", "searchParam")},
    "DataRequirement.dateFilter": {"drq-2": _only_one("path", "searchParam")},
    "Distance": {**_QUANTITY, "dis-1": _all(_implies("value", "code"), _value("system", {"const": UCUM}))},
    "Duration": {
        **_QUANTITY,
        "drt-1": _either(_not(_any("code")), _all(_is("system", {"const": UCUM}), _any("value"))),
    },
    "Expression": {"exp-1": _any("expression", "reference")},
    "Goal.target": {"gol-1": _implies("detail[x]", "measure")},
    "Group": {"grp-1": _either(_not(_any("member")), _is("actual", {"const": True}))},
    "Immunization.education": {"imm-1": _any("documentType", "reference")},
    "MedicationAdministration.dosage": {"mad-1": _any("dose", "rate[x]")},
    "Observation": {"obs-6": _not(_all(_any("dataAbsentReason"), _any("value[x]")))},
    "Observation.referenceRange": {"obs-3": _any("low", "high", "text")},
    "Organization": {
        "org-1": _any("identifier", "name"),
        "org-2": _each_not_home("address"),
        "org-3": _each_not_home("telecom"),
    },
    "Patient.contact": {"pat-1": _any("name", "telecom", "address", "organization")},
    "Quantity": _QUANTITY,
    "QuestionnaireResponse.item": {"qrs-1": _not(_all(_any("answer"), _any("item")))},
    # The comment of Reference in R4 ("SHALL"), which R5 made its constraint ref-2.
    "Reference": {"ref-2": _any("reference", "identifier", "display", "extension")},
    "Ratio": {
        "rat-1": _either(
            _all(_any("numerator"), _any("denominator")),
            _all(_any("extension"), _not(_any("numerator")), _not(_any("denominator"))),
        )
    },
    "ServiceRequest": {"prr-1": _implies("orderDetail", "code")},
    "Timing.repeat": {
        "tim-1": _implies("duration", "durationUnit"),
        "tim-2": _implies("period", "periodUnit"),
        "tim-4": _value("duration", {"minimum": 0}),
        "tim-5": _value("period", {"minimum": 0}),
        "tim-6": _implies("periodMax", "period"),
        "tim-7": _implies("durationMax", "duration"),
        "tim-8": _implies("countMax", "count"),
        "tim-9": _either(
            _not(_any("offset")),
            _all(_any("when"), _value("when", {"not": {"contains": {"enum": ["C", "CM", "CD", "CV"]}}})),
        ),
        "tim-10": _either(_not(_any("timeOfDay")), _not(_any("when"))),
    },
    "TriggerDefinition": {
        "trd-1": _either(_not(_any("data")), _not(_any("timing[x]"))),
        "trd-2": _implies("condition", "data"),
        "trd-3": _all(
            _either(_not(_is("type", {"const": "named-event"})), _any("name")),
            _either(_not(_is("type", {"const": "periodic"})), _any("timing[x]")),
            _either(_not(_is("type", {"pattern": "^data-"})), _any("data")),
        ),
    },
}

__all__ = ["coded", "constraint", "exists", "named"]
