"""Generated searches over a real record, each compared with what plain Python finds in the resources."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from organizations.models import Tenant
from tests import factories
from tests.fhir_api.search import oracle, record

pytestmark = pytest.mark.untraced

Json = dict[str, Any]
PREFIXES = ["eq", "ne", "gt", "lt", "ge", "le", "sa", "eb"]

# Type, parameter: kind and the elements it means, written down from R4's pages, not from the generated table.
PARAMETERS: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {
    "Patient": {
        "gender": ("token", ("gender",)),
        "identifier": ("token", ("identifier",)),
        "birthdate": ("date", ("birthDate",)),
        "family": ("string", ("name.family",)),
        "name": ("string", tuple(f"name.{part}" for part in ("family", "given", "prefix", "suffix", "text"))),
        "address-city": ("string", ("address.city",)),
        "active": ("token", ("active",)),
        "organization": ("reference", ("managingOrganization.reference",)),
    },
    "Observation": {
        "code": ("token", ("code",)),
        "combo-code": ("token", ("code", "component.code")),
        "category": ("token", ("category",)),
        "status": ("token", ("status",)),
        "date": ("date", ("effectiveDateTime", "effectivePeriod", "effectiveInstant")),
        "value-quantity": ("quantity", ("valueQuantity",)),
        "component-value-quantity": ("quantity", ("component.valueQuantity",)),
        "combo-value-quantity": ("quantity", ("valueQuantity", "component.valueQuantity")),
        "value-concept": ("token", ("valueCodeableConcept",)),
        "subject": ("reference", ("subject.reference",)),
        "encounter": ("reference", ("encounter.reference",)),
    },
    "Condition": {
        "code": ("token", ("code",)),
        "clinical-status": ("token", ("clinicalStatus",)),
        "onset-date": ("date", ("onsetDateTime", "onsetPeriod")),
        "subject": ("reference", ("subject.reference",)),
    },
    "Encounter": {
        "class": ("token", ("class",)),
        "date": ("date", ("period",)),
        "status": ("token", ("status",)),
        "subject": ("reference", ("subject.reference",)),
        "length": ("quantity", ("length",)),
    },
    "MedicationRequest": {
        "status": ("token", ("status",)),
        "intent": ("token", ("intent",)),
        "authoredon": ("date", ("authoredOn",)),
        "subject": ("reference", ("subject.reference",)),
    },
}


@dataclass(frozen=True)
class Clause:
    """One parameter of a query and what it means."""

    text: str
    test: Callable[[Json], bool]


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    """A tenant of whom the planner's statistics, gathered before, know nothing: as each tenant is once."""
    record.put(factories.provision().id, RECORD.all())  # a neighbour with the same content
    record.put(factories.provision().id, RECORD.all()[:300])
    record.analyze(vacuum=False)
    made = factories.provision()
    record.put(made.id, RECORD.all())
    return made


class Record:
    """The resources, read when the first test needs them."""

    def __init__(self) -> None:
        self._all: list[Json] = []

    def all(self) -> list[Json]:
        if not self._all:
            self._all = record.resources(4)
        return self._all

    def of(self, type_name: str) -> list[Json]:
        return [one for one in self.all() if one["resourceType"] == type_name]


RECORD = Record()


def escaped(text: str) -> str:
    for character in "\\,|$":
        text = text.replace(character, "\\" + character)
    return text


@st.composite
def clause(draw: Any, type_name: str) -> Clause:
    code = draw(st.sampled_from(sorted(PARAMETERS[type_name])))
    kind, paths = PARAMETERS[type_name][code]
    if draw(st.integers(0, 9)) == 0:
        missing = draw(st.booleans())
        has = oracle.present(tuple(path.removesuffix(".reference") for path in paths))
        return Clause(f"{code}:missing={str(missing).lower()}", lambda resource: has(resource) != missing)
    values = _values(type_name, kind, paths)
    if not values:
        return Clause(f"{code}:missing=true", lambda resource: not oracle.present(paths)(resource))
    chosen = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3))
    made = [_KINDS[kind](draw, paths, value) for value in chosen]
    modifier = made[0][0]
    made = [one for one in made if one[0] == modifier]
    tests = [test for _, _, test in made]
    negated = kind == "token" and not modifier and draw(st.integers(0, 4)) == 0
    name = f"{code}:not" if negated else f"{code}:{modifier}" if modifier else code
    text = f"{name}={quote(','.join(text for _, text, _ in made), safe='')}"
    return Clause(text, lambda resource: any(test(resource) for test in tests) != negated)


@cache
def _values(type_name: str, kind: str, paths: tuple[str, ...]) -> list[Any]:
    """The values that parameters of the record have, each once."""
    return list({repr(one): one for one in _every(type_name, kind, paths)}.values())


def _every(type_name: str, kind: str, paths: tuple[str, ...]) -> list[Any]:
    found = [value for one in RECORD.of(type_name) for value in oracle.any_at(one, *paths)]
    if kind == "token":
        return list(oracle.codings(iter(found)))
    if kind == "date":
        texts = [one if isinstance(one, str) else one.get("start") or one.get("end") for one in found]
        return [text for text in texts if text]
    if kind == "reference":  # "#contained" and conditional references are nothing one may search for
        return [one for one in found if re.fullmatch(r"[A-Z]\w+/[\w.-]+", one)]
    return [one for one in found if one]


def _token(draw: Any, paths: tuple[str, ...], value: tuple[str, str]) -> tuple[str, str, oracle.Test]:
    system, code = value
    form = draw(st.sampled_from(["code", "both", "system"]))
    if system in ("", "*") or form == "code":
        return "", escaped(code), oracle.token(paths, code)
    if form == "both":
        return "", f"{escaped(system)}|{escaped(code)}", oracle.token(paths, f"{system}|{code}")
    return "", f"{escaped(system)}|", oracle.token(paths, f"{system}|")


def _string(draw: Any, paths: tuple[str, ...], value: str) -> tuple[str, str, oracle.Test]:
    modifier = draw(st.sampled_from(["", "", "exact", "contains"]))
    if modifier != "exact":
        start = draw(st.integers(0, max(0, len(value) - 1))) if modifier else 0
        value = value[start : start + draw(st.integers(1, 6))].upper() or value
        if not oracle.plain(value):
            value = "a"
    return modifier, escaped(value), oracle.string(paths, value, modifier)


def _reference(draw: Any, paths: tuple[str, ...], value: str) -> tuple[str, str, oracle.Test]:
    return "", escaped(value), oracle.reference(paths, value)


def _date(draw: Any, paths: tuple[str, ...], value: str) -> tuple[str, str, oracle.Test]:
    prefix = draw(st.sampled_from(PREFIXES))
    text = value[: draw(st.sampled_from([4, 7, 10, 40]))]
    written = text if prefix == "eq" and draw(st.booleans()) else prefix + text
    return "", written, oracle.date(paths, prefix, text)


def _quantity(draw: Any, paths: tuple[str, ...], value: Json) -> tuple[str, str, oracle.Test]:
    prefix = draw(st.sampled_from(PREFIXES[:6]))
    number = str(value["value"])[: draw(st.sampled_from([3, 5, 20]))].rstrip(".") if "value" in value else "1"
    number = number if re.fullmatch(r"-?\d+(\.\d+)?", number) else "1"
    units = [""]
    if value.get("code") and value.get("system"):
        units += [f"{value['system']}|{value['code']}", f"|{value['code']}"]
    unit = draw(st.sampled_from(units))
    return "", f"{prefix}{number}" + (f"|{unit}" if unit else ""), oracle.quantity(paths, prefix, number, unit)


_KINDS = {"token": _token, "string": _string, "reference": _reference, "date": _date, "quantity": _quantity}


@st.composite
def query(draw: Any) -> tuple[str, list[Clause]]:
    type_name = draw(st.sampled_from(sorted(PARAMETERS)))
    clauses = draw(st.lists(clause(type_name), min_size=1, max_size=3))
    if type_name != "Patient" and draw(st.integers(0, 3)) == 0:
        clauses.append(_chained(draw(clause("Patient")), draw(st.sampled_from(["subject:Patient", "patient"]))))
    if type_name == "Patient" and draw(st.integers(0, 3)) == 0:
        referring = draw(st.sampled_from(["Observation", "Condition", "Encounter"]))
        clauses.append(_had(referring, draw(clause(referring))))
    return type_name, clauses


def _chained(end: Clause, by: str) -> Clause:
    patients = {f"Patient/{one['id']}" for one in RECORD.of("Patient") if end.test(one)}
    return Clause(f"{by}.{end.text}", lambda resource: bool(patients & set(oracle.at(resource, "subject.reference"))))


def _had(referring: str, end: Clause) -> Clause:
    found = [one for one in RECORD.of(referring) if end.test(one)]
    subjects = {name for one in found for name in oracle.at(one, "subject.reference")}
    return Clause(f"_has:{referring}:patient:{end.text}", lambda resource: f"Patient/{resource['id']}" in subjects)


def _expected(type_name: str, clauses: list[Clause]) -> list[str]:
    return sorted(
        f"{type_name}/{one['id']}" for one in RECORD.of(type_name) if all(clause.test(one) for clause in clauses)
    )


def test_generated_searches_find_what_plain_python_finds(tenant: Tenant, long: bool) -> None:
    @settings(
        max_examples=3000 if long else 200,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(query(), st.sampled_from([3, 50, 200]))
    def compare(asked: tuple[str, list[Clause]], count: int) -> None:
        type_name, clauses = asked
        text = "&".join(clause.text for clause in clauses)
        expected = _expected(type_name, clauses)

        if len(expected) > 20 * count:
            count = 200
        found = record.all_of(tenant.id, type_name, f"{text}&_count={count}", strict=True)
        assert sorted(found) == expected, text
        total = record.asked(tenant.id, type_name, f"{text}&_count=0", strict=True)["total"]
        assert total == len(expected), text

    compare()


@pytest.mark.parametrize("direction", ["", "-"])
@pytest.mark.parametrize(("type_name", "code"), [(name, code) for name, codes in PARAMETERS.items() for code in codes])
def test_every_sort_gives_each_resource_once_in_order_37(
    tenant: Tenant, type_name: str, code: str, direction: str
) -> None:
    kind, paths = PARAMETERS[type_name][code]
    pages = record.pages(tenant.id, type_name, f"_sort={direction}{code}&_count=60", strict=True)

    found = [name for page in pages for name in page]
    everything = RECORD.of(type_name)
    assert sorted(found) == sorted(f"{type_name}/{one['id']}" for one in everything)
    by_name = {f"{type_name}/{one['id']}": one for one in everything}
    values = [_sort_value(by_name[name], kind, paths, down=bool(direction)) for name in found]
    present = [value for value in values if value is not None]
    assert values[len(present) :] == [None] * (len(values) - len(present)), "missing values come last"
    assert present == sorted(present, reverse=bool(direction))


def _sort_value(resource: Json, kind: str, paths: tuple[str, ...], *, down: bool) -> Any:
    chosen = max if down else min
    if kind == "date":
        return chosen((low for low, _ in oracle.spans(resource, paths)), default=None)
    values = oracle.any_at(resource, *paths)
    if kind == "token":
        return chosen((code for _, code in oracle.codings(values)), default=None)
    if kind == "string":
        return chosen((oracle.plain(one) for one in values), default=None)
    if kind == "quantity":
        return chosen((float(one["value"]) for one in values if "value" in one), default=None)
    return chosen(values, default=None)
