"""The table of the invariants: what each demands in words, and where it is held. Source: R4, constraints of the StructureDefinitions."""

from typing import Final

_UCUM: Final = "the system must be UCUM (http://unitsofmeasure.org) where it is given"

# Held by the generated schema, which titles its rules with these keys.
BY_SCHEMA: Final = {
    "age-1": f"An age needs a code of time and a value above zero; {_UCUM}.",
    "att-1": "An attachment with data needs its contentType.",
    "cnt-3": f"A count is a whole number with the code 1; {_UCUM}.",
    "con-1": "A stage needs a summary or an assessment.",
    "con-2": "An evidence needs a code or a detail.",
    "con-4": "An abated condition needs the clinical status inactive, resolved or remission.",
    "con-5": "A condition entered in error has no clinicalStatus.",
    "cpt-2": "A contact point with a value needs its system.",
    "dis-1": f"A distance needs a code of length; {_UCUM}.",
    "dom-2": "A contained resource may not contain further resources.",
    "dom-4": "A contained resource has no versionId and no lastUpdated.",
    "dom-5": "A contained resource has no security labels.",
    "drq-1": "A code filter needs a path or a searchParam, not both.",
    "drq-2": "A date filter needs a path or a searchParam, not both.",
    "drt-1": "A duration with a code needs a value and the system UCUM (http://unitsofmeasure.org).",
    "ele-1": "An element needs a value or children beside its id.",
    "exp-1": "An expression element needs an expression or a reference.",
    "obs-3": "A reference range needs low, high or text.",
    "obs-6": "dataAbsentReason is only for an observation without a value.",
    "org-1": "An organization needs a name or an identifier.",
    "org-2": "An address of an organization cannot be of use home.",
    "org-3": "A telecom of an organization cannot be of use home.",
    "pat-1": "A contact needs a name, telecom, address or organization.",
    "qty-3": "A quantity with a code needs the code's system.",
    "rat-1": "A ratio needs both numerator and denominator, or neither and an extension.",
    "ref-2": "A reference needs at least one of reference, identifier and display.",
    "sqty-1": "The comparator is not used here.",
    "tim-1": "A duration needs a durationUnit.",
    "tim-2": "A period needs a periodUnit.",
    "tim-4": "The duration cannot be negative.",
    "tim-5": "The period cannot be negative.",
    "tim-6": "A periodMax needs a period.",
    "tim-7": "A durationMax needs a duration.",
    "tim-8": "A countMax needs a count.",
    "tim-9": "An offset needs a when other than C, CM, CD and CV.",
    "tim-10": "timeOfDay and when cannot both be given.",
    "trd-1": "A trigger has timing or data, not both.",
    "trd-2": "A condition of a trigger needs data.",
    "trd-3": "A named event needs a name, a periodic one timing, a data event data.",
}

# Held by functions of this package.
BY_CODE: Final = {
    "dom-3": "A contained resource must be referred to from the resource, or refer to it.",
    "ext-1": "An extension has either a value or extensions, and not both.",
    "mdd-1": "whenHandedOver cannot be before whenPrepared.",
    "obs-7": "An observation with a value has no component of its own code.",
    "per-1": "The start of a period cannot be after its end.",
    "ref-1": "A reference that begins with # must name a contained resource.",
    "rng-2": "The low end of a range cannot be above its high end.",
    "txt-1": "The narrative may hold only basic formatting of XHTML",
    "txt-2": "The narrative needs content beside white space.",
}

NOT_APPLICABLE: Final = {
    f"eld-{number}": "ElementDefinition occurs in none of the twelve types, nor as the value of an extension."
    for number in (*range(1, 9), *range(11, 20), 22)
}

__all__ = ["BY_CODE", "BY_SCHEMA", "NOT_APPLICABLE"]
