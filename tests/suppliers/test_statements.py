"""How often a product request goes to PostgreSQL, counted where the statements leave: more trips are a decision, not an accident."""

import pytest
from django.db import connection

from api import ratelimits
from bench.statements import recording
from core import pipeline
from core.db import tenant_context
from organizations.models import ApiKey
from tests import factories
from tests.factories import Api, suffix
from tests.suppliers import products

CREATE = [
    ("proof of membership, mark of the write for feeds, claim of the key", 3),
    ("category, product, packaging, words, fact, webhook event, representation, counter", 8),
    ("answer kept with the key, COMMIT", 2),
]


@pytest.fixture(scope="module")
def supplier():
    tenant = factories.provision("supplier")
    person, _ = factories.member(tenant, ["supplier_admin"])
    api = Api(token=factories.bearer(person), tenant=tenant)
    products.create(api)  # the credential is known from here on
    return api


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?sort=-updated_at",
        "?include=prices,stock&sort=name&page=2&limit=5",
        "?category=gloves&search=nitrile&fields=id,name",
    ],
)
def test_list_with_membership_tenant_and_exact_total_is_one_trip(supplier, query):
    with recording() as record:
        answer = supplier.get(f"/v1/products{query}")
    assert answer.status_code == 200
    assert len(record) == 1, record.texts()


def test_get_is_one_trip(supplier):
    product = products.create(supplier)
    with recording() as record:
        assert supplier.get(f"/v1/products/{product['id']}").status_code == 200
    assert len(record) == 1, record.texts()


def test_get_by_api_key_is_one_trip():
    tenant = factories.provision("supplier")
    api = Api(key=factories.api_key(tenant))
    product = products.create(api)
    with recording() as record:
        assert api.get(f"/v1/products/{product['id']}").status_code == 200
    assert len(record) == 1, record.texts()


@pytest.mark.parametrize("named", [True, False])
def test_request_of_a_key_counts_once(named):
    tenant = factories.provision("supplier")
    api = Api(key=factories.api_key(tenant), tenant=tenant if named else None)
    api.get("/v1/products")  # the pair is known from here on
    assert (counted(tenant), counted(tenant, "unproven")) == (1, 1)
    assert api.get("/v1/products").status_code == 200
    assert (counted(tenant), counted(tenant, "unproven")) == (2, 1)


def counted(tenant, bucket=""):
    """How many requests of the tenant's only key stand in its own bucket, or in the one for the time before it was proven."""
    with tenant_context(tenant.id):
        credential = f"key:{ApiKey.objects.get().pk}"
    name = f"rl:supplier:{bucket or tenant.id}:{credential}"
    return ratelimits.client().llen(name)


def test_create_with_key_fact_and_event_is_three_trips(supplier):
    with recording() as record:
        answer = supplier.post("/v1/products", json=products.body(), headers={"Idempotency-Key": suffix()})
    assert answer.status_code == 201
    assert [len(trip.calls) for trip in record.trips] == [count for _, count in CREATE], record.texts()
    assert record.trips[-1].calls[-1].statement.sql == b"COMMIT"
    assert not connection.in_atomic_block


def test_replay_is_three_trips(supplier):
    body, key = products.body(), {"Idempotency-Key": suffix()}
    supplier.post("/v1/products", json=body, headers=key)
    with recording() as record:
        answer = supplier.post("/v1/products", json=body, headers=key)
    assert answer.headers["Idempotency-Replayed"] == "true"
    assert len(record) == 3, record.texts()


def test_refused_caller_leaves_nothing_of_the_claim(supplier):
    stranger = factories.provision("supplier")
    foreign = Api(token=supplier.headers["Authorization"].removeprefix("Bearer "), tenant=stranger)
    with recording() as record:
        answer = foreign.post("/v1/products", json=products.body(), headers={"Idempotency-Key": suffix()})
    assert answer.status_code == 403
    assert answer.json()["code"] == "tenant_forbidden"
    written = [call for trip in record.trips for call in trip.calls if b"INSERT INTO suppliers" in call.statement.sql]
    assert not written
    assert not connection.in_atomic_block


def test_count_notices_one_more_statement(supplier):
    """Proof of power: a query of Django's cursor and a second trip are both seen."""
    with recording() as record:
        pipeline.run([pipeline.Call(pipeline.Statement.of("SELECT 1"))])
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    assert [trip.sql for trip in record.trips] == ["", "SELECT 1"]
