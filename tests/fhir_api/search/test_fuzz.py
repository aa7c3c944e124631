"""Whatever is asked is answered or refused; nothing a client can write makes the server fail."""

from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.errors import Malformed
from fhir_api.definitions.parameters import BY_TYPE
from fhir_api.resources.types import NUMBERS
from organizations.models import Tenant
from tests import factories
from tests.fhir_api.search import record

MODIFIERS = [
    "",
    "",
    "",
    "missing",
    "exact",
    "contains",
    "text",
    "not",
    "of-type",
    "identifier",
    "below",
    "above",
    "in",
    "not-in",
    "Patient",
    "iterate",
]
CONTROLS = [
    "_sort",
    "_count",
    "_total",
    "_summary",
    "_elements",
    "_include",
    "_revinclude",
    "_type",
    "_cursor",
    "_filter",
]
PIECES = [
    *(
        "true",
        "false",
        "2020",
        "ge2020-02-30",
        "ap2020-05",
        "eb9999-12-31",
        "sa0001",
        "lt2020-01-01T24:00",
        "5.4",
        "-1e99",
        "ap0",
    ),
    *(
        "a|b",
        "|",
        "||",
        "|x",
        "x|",
        "a|b|c",
        "1|2|km",
        "91|0",
        "$",
        "a$5",
        "a|b$gt5",
        "x$2020",
        "\\",
        "\\,",
        "*",
        "-",
        ".",
        ":",
    ),
    *(
        "Patient/1",
        "http://x/y",
        "urn:uuid:1",
        "Location/1",
        "http://hl7.org/fhir/observation-status|amended",
        "http://hl7.org/fhir/ValueSet/observation-status",
        "Observation:subject",
        "Observation:*",
        "Patient:organization:Organization",
    ),
    *("%", "_", "'", '"', "\x7f", "ẞ", "\u0301", "\U0010ffff", "{row}", "{}", "$1", "NaN", "inf", "1" * 60, "0", "-5"),
]


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    made = factories.provision()
    record.put(made.id, record.resources(0))
    return made


@st.composite
def name(draw: Any, type_name: str, depth: int = 2) -> str:
    codes = sorted(BY_TYPE[type_name])
    choice = draw(st.integers(0, 11))
    if choice == 0:
        return draw(st.sampled_from(CONTROLS))
    if choice == 1:
        return draw(st.text(max_size=12))
    if choice == 2 and depth:
        referring = draw(st.sampled_from(sorted(NUMBERS)))
        references = [one.code for one in BY_TYPE[referring].values() if one.kind == "reference"] or ["none"]
        return f"_has:{referring}:{draw(st.sampled_from(references))}:{draw(name(referring, depth - 1))}"
    code = draw(st.sampled_from(codes))
    if BY_TYPE[type_name][code].kind == "reference" and depth and draw(st.booleans()):
        target = draw(st.sampled_from(sorted(NUMBERS)))
        return f"{code}{draw(st.sampled_from(['', ':' + target]))}.{draw(name(target, depth - 1))}"
    modifier = draw(st.sampled_from(MODIFIERS))
    return f"{code}:{modifier}" if modifier else code


@st.composite
def pairs(draw: Any) -> tuple[str, list[tuple[str, str]]]:
    type_name = draw(st.sampled_from([*sorted(NUMBERS), ""]))
    base = type_name or "Patient"
    found = []
    for _ in range(draw(st.integers(1, 4))):
        values = st.one_of(st.sampled_from(PIECES), st.text(max_size=8), st.sampled_from(sorted(BY_TYPE[base])))
        found.append((draw(name(base)), ",".join(draw(st.lists(values, min_size=1, max_size=3)))))
    return type_name, found


def test_nothing_that_is_asked_makes_a_search_fail(tenant: Tenant, long: bool) -> None:
    @settings(
        max_examples=1500 if long else 300,
        deadline=None,
        derandomize=not long,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(pairs(), st.booleans())
    @example(("Observation", [("status:in", "\0")]), True)
    def ask(asked: tuple[str, list[tuple[str, str]]], strict: bool) -> None:
        type_name, found = asked
        try:
            bundle = record.searched(tenant.id, type_name, tuple(found), strict=strict)
        except Malformed as refusal:
            assert refusal.detail
            return
        assert bundle["type"] == "searchset"
        for entry in bundle.get("entry", []):
            assert entry["search"]["mode"] in ("match", "include", "outcome")

    ask()
