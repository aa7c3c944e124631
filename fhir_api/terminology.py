"""What this server knows of terminology: the small value sets of R4's bindings, and which of their codes subsume others."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Final

from .resources.types import FHIR_VERSION

Code = tuple[str, str]  # system, code
_FILE: Final = Path(__file__).parent / "definitions" / "value_sets.json"

# The code systems behind those value sets that have levels, each code with those right below it.
# Source: R4 codesystem-condition-clinical, -condition-ver-status, -diagnostic-report-status, -observation-status ("Lvl").
_LEVELS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "http://terminology.hl7.org/CodeSystem/condition-clinical": {
        "active": ("recurrence", "relapse"),
        "inactive": ("remission", "resolved"),
    },
    "http://terminology.hl7.org/CodeSystem/condition-ver-status": {"unconfirmed": ("provisional", "differential")},
    "http://hl7.org/fhir/diagnostic-report-status": {
        "partial": ("preliminary",),
        "amended": ("corrected", "appended"),
    },
    "http://hl7.org/fhir/observation-status": {"amended": ("corrected",)},
}


def members(address: str) -> tuple[Code, ...] | None:
    """The codes of a value set, None where it is not known; the address may name R4's version (`…|4.0.1`)."""
    url, bar, version = address.partition("|")
    if bar and version != FHIR_VERSION:
        return None
    systems = _value_sets().get(url)
    return None if systems is None else tuple((name, code) for name, codes in systems.items() for code in codes)


def below(code: Code) -> tuple[Code, ...] | None:
    """The code and those that it subsumes; None where it is of no code system that is known whole."""
    if code not in _known():
        return None
    system, own = code
    narrower = _LEVELS.get(system, {}).get(own, ())
    return (code, *((system, one) for one in narrower))


def above(code: Code) -> tuple[Code, ...] | None:
    """The code and those that subsume it; None as `below`."""
    if code not in _known():
        return None
    system, own = code
    return (code, *((system, one) for one, narrower in _LEVELS.get(system, {}).items() if own in narrower))


@lru_cache(maxsize=1)
def _value_sets() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = json.loads(_FILE.read_bytes())
    return found


@lru_cache(maxsize=1)
def _known() -> frozenset[Code]:
    return frozenset(
        (system, code)
        for systems in _value_sets().values()
        for system, codes in systems.items()
        for code in codes
        if "unitsofmeasure" not in system and "v3-" not in system  # of these a value set holds a part only
    )
