"""Where a search begins is counted once in a while, and what is known decides nothing but the place."""

from typing import Any

import pytest

from core.ids import uuid7
from fhir_api.definitions.parameters import parameter
from fhir_api.keys import code_key
from fhir_api.search import counts as module
from fhir_api.search import drivers
from fhir_api.search.conditions import STRINGS, Keyed, Listed
from fhir_api.search.conditions import Test as RowTest
from fhir_api.search.counts import MOST, counts
from fhir_api.search.drivers import BOUND, RARE, RARE_OF_ENTRIES
from organizations.models import Tenant
from tests import factories
from tests.fhir_api.search import record

ONE, TWO, THREE = Keyed((1,)), Keyed((2,)), Keyed((3,))
TEXTS = Listed(STRINGS, ((7, RowTest("TRUE")),))
PAIR = "status=final&category=vital"


def observation(fhir_id: str, status: str, category: str) -> dict[str, Any]:
    return {
        "resourceType": "Observation",
        "id": fhir_id,
        "status": status,
        "code": {"text": "x"},
        "category": [{"coding": [{"code": category}]}],
    }


def person(fhir_id: str, family: str) -> dict[str, Any]:
    return {"resourceType": "Patient", "id": fhir_id, "gender": "male", "name": [{"family": family}]}


@pytest.fixture
def tenant() -> Tenant:
    made = factories.provision()
    record.put(made.id, [observation("a", "final", "vital"), observation("b", "final", "other")])
    return made


def trips(tenant: Tenant, query: str) -> int:
    made: list[int] = []
    record.asked(tenant.id, "Observation", query, trips=made)
    return len(made)


def found(tenant: Tenant, query: str) -> list[str]:
    return record.names(record.asked(tenant.id, "Observation", query))


def test_the_same_conditions_are_counted_once_a_minute(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [trips(tenant, PAIR) for _ in range(3)] == [2, 1, 1]
    assert trips(factories.provision(), PAIR) == 2
    monkeypatch.setattr(module, "SECONDS", 0.0)
    assert trips(tenant, PAIR) == 2


def test_old_numbers_hide_nothing(tenant: Tenant) -> None:
    assert found(tenant, PAIR) == ["Observation/a"]
    record.put(tenant.id, [observation("c", "final", "vital"), observation("d", "amended", "vital")])
    assert found(tenant, PAIR) == ["Observation/c", "Observation/a"]
    assert found(tenant, "status=amended&category=vital") == ["Observation/d"]


@pytest.mark.parametrize(
    ("family", "expected", "count"), [("zo", ["c"], 1), ("a", ["e", "d", "b", "a"], 2), ("nobody", [], 1)]
)
def test_number_that_alone_is_unknown_is_asked_along_with_the_page(
    monkeypatch: pytest.MonkeyPatch, family: str, expected: list[str], count: int
) -> None:
    """Nothing is lost, be what is looked for rare, frequent or not there; once counted, each is one trip."""
    monkeypatch.setattr(drivers, "BOUND", 3)
    monkeypatch.setattr(drivers, "RARE_OF_ENTRIES", 1)
    tenant = factories.provision()
    record.put(
        tenant.id, [person(*one) for one in zip("abcde", ("Abel", "Aber", "Zorn", "Adam", "Ahorn"), strict=True)]
    )
    gender = parameter("Patient", "gender")
    assert gender
    counts.learn(tenant.id, Keyed((code_key(gender.number, "male"),)), 3)

    for most in (count, 1):
        made: list[int] = []
        bundle = record.asked(tenant.id, "Patient", f"family={family}&gender=male&_total=accurate", trips=made)
        assert record.names(bundle) == [f"Patient/{one}" for one in expected]
        assert bundle["total"] == len(expected)
        assert len(made) == most


@pytest.mark.parametrize(
    ("known", "conditions", "counted", "begin"),
    [
        ({}, [ONE], [], ONE),
        ({}, [ONE, TWO], [ONE, TWO], ONE),
        ({ONE: BOUND}, [ONE, TWO], [], TWO),
        ({ONE: BOUND}, [ONE, TWO, THREE], [TWO, THREE], TWO),
        ({ONE: BOUND}, [ONE, TEXTS], [TEXTS], TEXTS),
        ({ONE: RARE}, [TWO, ONE], [], ONE),
        ({ONE: RARE_OF_ENTRIES}, [TWO, ONE, TEXTS], [], ONE),
        ({ONE: RARE_OF_ENTRIES + 1}, [TWO, ONE, TEXTS], [TWO, TEXTS], ONE),
        ({ONE: RARE + 1}, [ONE, TWO], [TWO], ONE),
        ({ONE: BOUND, TWO: BOUND}, [TWO, ONE], [], TWO),
        ({ONE: BOUND, TEXTS: BOUND}, [TEXTS, ONE], [], ONE),
        ({ONE: 500, TEXTS: 400}, [ONE, TEXTS], [], TEXTS),
    ],
)
def test_what_is_known_decides_what_is_counted(known: Any, conditions: Any, counted: Any, begin: Any) -> None:
    tenant_id = uuid7()
    for condition, number in known.items():
        counts.learn(tenant_id, condition, number)

    assert drivers.counted(tenant_id, [conditions]) == counted
    assert drivers._rarest(tenant_id, conditions) == begin


def test_no_more_is_kept_than_the_bound() -> None:
    tenant_id = uuid7()
    for number in range(MOST + 1):
        counts.learn(tenant_id, Keyed((number,)), 1)
    assert counts.get(tenant_id, Keyed((MOST,))) == 1
    assert counts.get(tenant_id, Keyed((0,))) is None
