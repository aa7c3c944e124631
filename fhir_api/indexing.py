"""What a resource is found by."""

from collections.abc import Iterator
from typing import Final

from . import dates, references
from .definitions.extraction import EXTRACTIONS
from .definitions.parameters import PARAMETERS
from .entries import OPEN_HIGH, OPEN_LOW, Entries
from .keys import patients_code_key, system_code_key, target_key
from .resources import Json
from .resources.types import TYPES

# The types of which the rules of the platform read one patient's newest of a code: he may have thousands.
FOUND_BY_PATIENT_AND_CODE: Final = frozenset({"Observation"})


def index(resource: Json) -> Entries:
    """Make the entries of a valid resource: a pure function of its content, without the server's own id and times."""
    type_name = resource["resourceType"]
    elements, whole = EXTRACTIONS[type_name]
    entries = Entries()
    if "contained" in resource:
        entries.contained = {one["id"]: one["resourceType"] for one in resource["contained"] if "id" in one}
    for member, value in resource.items():
        extract = elements.get(member)
        if extract is not None:
            extract(entries, value)
    for extract in whole:
        extract(entries, resource)
    if type_name in FOUND_BY_PATIENT_AND_CODE:
        entries.postings.update(index_by_patient_and_code(resource))
    entries.sort_date = _sort_date(resource, TYPES[type_name].dated_by)
    return entries


def index_by_patient_and_code(resource: Json) -> Iterator[int]:
    """Yield the keys of each coding with the patient who is the subject."""
    subject = references.target(resource.get("subject", {}).get("reference", ""))
    if subject is None or subject[0] != "Patient":
        return
    number = PARAMETERS[resource["resourceType"], "code"].number
    for coding in resource.get("code", {}).get("coding", ()):
        if "code" in coding:
            yield patients_code_key(
                target_key(*subject), system_code_key(number, coding.get("system", ""), coding["code"])
            )


def _sort_date(resource: Json, members: tuple[str, ...]) -> str | None:
    """Return the clinical date: the first that is told. Source: R4 pages of the types, the dates of an event."""
    for member in members:
        value = resource.get(member)
        if value is None:
            continue
        span = dates.span(value) if isinstance(value, str) else _span(value)
        for bound in span or ():
            if bound not in (OPEN_LOW, OPEN_HIGH):
                return bound
    return None


def _span(value: Json) -> dates.Span | None:
    return dates.timing(value) if "event" in value or "repeat" in value else dates.period(value)
