"""Rows locked and saved by the pipeline are those that the ORM reads and saves."""

from datetime import UTC, datetime

import pytest
from django.db import connection, transaction

from core import pipeline
from core.db import tenant_context
from core.ids import uuid7
from core.model_rows import lock_call, row_of, save_call
from core.row_security import security_of, tenant_models
from suppliers.catalog.models import Product
from tests import factories
from tests.security import worlds

AT = datetime(2031, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)


@pytest.fixture(scope="module")
def world():
    return worlds.make()


def locked(model, tenant_id, key):
    (found,) = pipeline.run([lock_call(model, tenant_id, key)])
    return row_of(model, found)


MODELS = [one for one in tenant_models() if len(one._meta.pk_fields) == 1 and not security_of(one).append_only]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_locked_row_is_the_one_that_the_orm_reads(model, world):
    column = security_of(model).tenant_column
    with tenant_context(world.tenant.id):
        for wanted in model._default_manager.filter(**{column: world.tenant.id})[:3]:
            found = locked(model, world.tenant.id, wanted.pk)
            assert vars(found) | {"_state": None} == vars(wanted) | {"_state": None}
            assert (found._state.adding, found._state.db) == (False, "default")


@pytest.mark.parametrize(
    "document",
    [{"large": 2**80, "small": -(2**70), "edge": 2**63}, [1.5, -0.25, 1e300], "1234567890123456789", {"ü": None}, True],
)
def test_document_is_the_one_that_the_orm_reads(world, document):
    with tenant_context(world.tenant.id):
        Product.objects.filter(tenant_id=world.tenant.id, pk=world.ids["products"]).update(udi=document)
        found = locked(Product, world.tenant.id, world.ids["products"]).udi
        read = Product.objects.get(tenant_id=world.tenant.id, pk=world.ids["products"]).udi
        assert repr(found) == repr(read)  # 1 and 1.0 are equal
        transaction.set_rollback(True)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
@pytest.mark.parametrize("at", [AT, AT.replace(microsecond=0), AT.replace(year=1), AT.replace(year=9999)])
def test_instant_is_the_one_that_was_written(world, at, zone):
    with tenant_context(world.tenant.id), connection.cursor() as cursor:
        Product.objects.filter(tenant_id=world.tenant.id, pk=world.ids["products"]).update(updated_at=at)
        cursor.execute("SELECT set_config('TimeZone', %s, true)", [zone])
        found = locked(Product, world.tenant.id, world.ids["products"]).updated_at
        assert (found, found.tzinfo) == (at, UTC)
        transaction.set_rollback(True)


def test_row_that_is_not_there_is_none(world):
    with tenant_context(world.tenant.id):
        assert locked(Product, world.tenant.id, uuid7()) is None


def test_row_of_another_tenant_is_none(world):
    other = factories.provision("supplier")
    with tenant_context(other.id):
        assert locked(Product, world.tenant.id, world.ids["products"]) is None
        assert locked(Product, other.id, world.ids["products"]) is None


def test_saved_row_has_its_next_version(world):
    with tenant_context(world.tenant.id):
        row = locked(Product, world.tenant.id, world.ids["products"])
        version = row.version
        row.description, row.udi = "as 'new'; --", {"a": [1, None, "ü"]}
        pipeline.run([save_call(row, "description", "udi", at=AT)])
    with tenant_context(world.tenant.id):
        found = Product.objects.get(tenant_id=world.tenant.id, pk=row.pk)
    assert (found.description, found.udi, found.version, found.updated_at) == (
        "as 'new'; --", {"a": [1, None, "ü"]}, version + 1, AT,
    )  # fmt: skip
    assert row.version == version + 1


def test_null_json_is_saved_as_null(world):
    with tenant_context(world.tenant.id):
        row = locked(Product, world.tenant.id, world.ids["products"])
        row.udi = None
        pipeline.run([save_call(row, "udi", at=AT)])
        assert Product.objects.get(pk=row.pk).udi is None
        assert Product.objects.filter(pk=row.pk, udi__isnull=True).exists()


def test_save_names_its_tenant(world):
    other = factories.provision("supplier")
    with tenant_context(world.tenant.id):
        row = locked(Product, world.tenant.id, world.ids["products"])
        call = save_call(row, "description", at=AT)
    with tenant_context(other.id):
        (found,) = pipeline.run([call])
    assert len(found) == 0
    assert call.parameters[0] == str(world.tenant.id)
