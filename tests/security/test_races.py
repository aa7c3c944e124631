"""Group 7: real threads against real PostgreSQL. Every race is run often; each fails when its guard is taken out."""

from collections import Counter
from unittest import mock

import pytest

from api import envelopes, idempotency, preconditions
from core import pipeline
from core.db import tenant_context
from core.errors import QuotaExceeded
from ledger.models import Event
from organizations import public
from organizations.models import Membership, Quota
from suppliers.catalog.models import Product
from tests import factories
from tests.factories import Api, suffix
from tests.races import race
from tests.suppliers import products


@pytest.fixture(scope="module")
def rounds(long) -> int:
    return 200 if long else 6


@pytest.fixture(scope="module")
def supplier():
    tenant = factories.provision("supplier", plan="enterprise")
    return tenant, factories.api_key(tenant)


def client(supplier) -> Api:
    tenant, key = supplier
    return Api(key=key, tenant=tenant)


def rows(tenant, sku: str) -> int:
    with tenant_context(tenant.id):
        return Product.objects.filter(tenant_id=tenant.id, supplier_sku=sku).count()


def one_key_eight_clients(supplier):
    body, key = products.body(), suffix()
    works = [lambda: client(supplier).post("/v1/products", json=body, headers={"Idempotency-Key": key})] * 8
    return body["supplier_sku"], race(*works)


def test_one_idempotency_key_from_eight_clients_has_one_effect_and_one_answer(supplier, rounds):
    for _ in range(rounds):
        sku, answers = one_key_eight_clients(supplier)
        done = [answer for answer in answers if answer.status_code == 201]
        waiting = [answer for answer in answers if answer.status_code == 409]
        assert len(done) + len(waiting) == 8, [(answer.status_code, answer.content) for answer in answers]
        assert {answer.json()["code"] for answer in waiting} <= {"idempotency_in_progress"}
        assert len({answer.content for answer in done}) == 1
        assert sum("Idempotency-Replayed" not in answer.headers for answer in done) == 1
        assert rows(supplier[0], sku) == 1


def test_the_key_race_notices_a_key_that_is_not_claimed(supplier):
    """Proof of power: without the claim, the twins are judged by the SKU alone and do not get one answer."""
    with mock.patch.object(idempotency, "key_of", return_value=None):
        _, answers = one_key_eight_clients(supplier)
    assert Counter(answer.status_code for answer in answers) != Counter({201: 8})


def test_one_key_with_different_bodies_has_one_effect(supplier, rounds):
    for _ in range(rounds):
        key = suffix()
        bodies = [products.body() for _ in range(6)]
        answers = race(
            *[
                lambda body=body: client(supplier).post("/v1/products", json=body, headers={"Idempotency-Key": key})
                for body in bodies
            ]
        )
        statuses = Counter(answer.status_code for answer in answers)
        assert statuses[201] == 1
        assert statuses[422] + statuses[409] == 5
        assert sum(rows(supplier[0], body["supplier_sku"]) for body in bodies) == 1


def two_updates(supplier):
    made = client(supplier).post("/v1/products", json=products.body())
    path, tag = f"/v1/products/{made.json()['data']['id']}", made.headers["ETag"]
    bodies = [products.body(supplier_sku=made.json()["data"]["supplier_sku"], name=f"Name {n}") for n in range(2)]
    return race(
        *[lambda body=body: client(supplier).put(path, json=body, headers={"If-Match": tag}) for body in bodies]
    )


def test_two_updates_with_one_version_give_one_conflict(supplier, rounds):
    for _ in range(rounds):
        assert sorted(answer.status_code for answer in two_updates(supplier)) == [200, 409]


def test_the_update_race_notices_a_version_that_is_not_checked(supplier):
    with mock.patch.object(preconditions, "check_version", return_value=None):
        assert [answer.status_code for answer in two_updates(supplier)] == [200, 200]


def test_same_sku_from_eight_clients_is_one_product(supplier, rounds):
    for _ in range(rounds):
        body = products.body()
        answers = race(*[lambda body=body: client(supplier).post("/v1/products", json=body)] * 8)
        assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 7}
        assert rows(supplier[0], body["supplier_sku"]) == 1


def spend(tenant, threads: int, each: int):
    actor = factories.actor_of(tenant)

    def work() -> int:
        taken = 0
        for _ in range(each):
            try:
                with tenant_context(tenant.id):
                    public.consume_quota(actor=actor, key="webhook_endpoints", at=factories.now())
                taken += 1
            except QuotaExceeded:
                pass
        return taken

    return race(*[work] * threads)


def test_hundredth_and_next_quota_unit_taken_by_sixteen_give_exactly_the_limit():
    tenant = factories.provision("supplier")
    with tenant_context(tenant.id):
        limit = Quota.objects.get(tenant=tenant, key="webhook_endpoints").limit
    assert limit == 100
    assert sum(spend(tenant, 16, 10)) == 100
    with tenant_context(tenant.id):
        assert Quota.objects.get(tenant=tenant, key="webhook_endpoints").used == 100


def test_a_fact_exists_if_and_only_if_the_change_does(supplier):
    """Threads that fail after the fact was recorded leave neither change nor fact."""
    body = products.body()
    key = suffix()
    with mock.patch.object(envelopes, "one", side_effect=RuntimeError("the process dies before COMMIT")):
        answer = client(supplier).post("/v1/products", json=body, headers={"Idempotency-Key": key})
    assert answer.status_code == 500
    assert rows(supplier[0], body["supplier_sku"]) == 0
    with tenant_context(supplier[0].id):
        assert not Event.objects.filter(
            tenant_id=supplier[0].id, data__contains={"supplier_sku": body["supplier_sku"]}
        ).exists()
    again = client(supplier).post("/v1/products", json=body, headers={"Idempotency-Key": key})
    assert again.status_code == 201
    assert "Idempotency-Replayed" not in again.headers


def test_membership_revoked_while_in_use_stops_at_once(rounds):
    for _ in range(min(rounds, 20)):
        tenant = factories.provision("provider")
        factories.member(tenant)
        person, membership = factories.member(tenant, ["tenant_admin"])
        api = Api(token=factories.bearer(person), tenant=tenant)
        assert api.get("/v1/locations").status_code == 200
        Membership._base_manager.filter(pk=membership.pk).update(status="revoked")
        assert api.get("/v1/locations").json()["code"] == "tenant_forbidden"


def test_pipeline_survives_a_failed_statement(supplier):
    bad = pipeline.Statement.of("SELECT 1/0")
    good = pipeline.Statement.of("SELECT $1::int")
    for _ in range(3):
        with pytest.raises(Exception, match="division by zero"):
            pipeline.run([pipeline.Call(good, ["1"]), pipeline.Call(bad)])
        assert pipeline.run([pipeline.Call(good, ["7"])])[0].value() == b"7"
