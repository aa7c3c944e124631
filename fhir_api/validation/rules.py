"""The table of the invariants: what each demands in words, and where it is held. Source: R4, constraints of the StructureDefinitions."""

from typing import Final

_UCUM: Final = "the system must be UCUM (http://unitsofmeasure.org) where it is given"

# Held by the generated schema, which titles its rules with these keys.
BY_SCHEMA: Final = {
    "age-1": f"An age needs a code of time and a value above zero; {_UCUM}.",
    "ait-1": "An allergy needs its clinicalStatus, unless it was entered in error.",
    "ait-2": "An allergy entered in error has no clinicalStatus.",
    "att-1": "An attachment with data needs its contentType.",
    "cnt-3": f"A count is a whole number with the code 1; {_UCUM}.",
    "con-1": "A stage needs a summary or an assessment.",
    "con-2": "An evidence needs a code or a detail.",
    "con-4": "An abated condition needs the clinical status inactive, resolved or remission.",
    "con-5": "A condition entered in error has no clinicalStatus.",
    "cpl-3": "An activity has a reference or a detail, not both.",
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
    "gol-1": "A target with a detail needs its measure.",
    "grp-1": "Only an actual group has members.",
    "imm-1": "An education needs a documentType or a reference.",
    "mad-1": "A dosage needs a dose or a rate.",
    "obs-3": "A reference range needs low, high or text.",
    "obs-6": "dataAbsentReason is only for an observation without a value.",
    "org-1": "An organization needs a name or an identifier.",
    "org-2": "An address of an organization cannot be of use home.",
    "org-3": "A telecom of an organization cannot be of use home.",
    "pat-1": "A contact needs a name, telecom, address or organization.",
    "prr-1": "orderDetail needs the code that it details.",
    "qrs-1": "Items are nested in an item or in its answers, not in both.",
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
    "ctm-1": "Only a practitioner takes part on behalf of an organization.",
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

# Of the vital-signs profiles, held by `vital_signs`.
BY_PROFILE: Final = {
    "vs-1": "The time of a vital sign is known to the day.",
    "vs-2": "A vital sign without components and members needs a value or a dataAbsentReason.",
    "vs-3": "A component of a vital sign needs a value or a dataAbsentReason.",
}

NOT_APPLICABLE: Final = {
    f"eld-{number}": "ElementDefinition occurs in none of the registered types, nor as the value of an extension."
    for number in (*range(1, 9), *range(11, 20), 22)
}

__all__ = ["BY_CODE", "BY_PROFILE", "BY_SCHEMA", "NOT_APPLICABLE"]
