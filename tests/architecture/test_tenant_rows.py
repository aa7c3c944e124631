"""What Django writes to tenant tables names the tenant in WHERE and never sets it; the SQL is that which was sent."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import DatabaseError, connections, models, transaction
from django.db.models import CompositePrimaryKey
from django_fsm import ConcurrentTransition
from pglast import ast, parse_sql

from core.clock import now
from core.db import tenant_context
from core.row_security import security_of, tenant_models
from core.tenant_rows import TenantRow, TenantRowsQuerySet
from organizations.models import Location, Membership
from organizations.public import ReceivedDocument, ReceivedLine
from suppliers.catalog.models import Category, Product
from tests import factories
from tests.architecture.statements import rules

# Received copies and their lines are written by SQL alone; their `save` and `delete` refuse.
MODELS = [model for model in tenant_models() if not issubclass(model, ReceivedDocument | ReceivedLine)]
REFUSING = [model for model in MODELS if isinstance(model._default_manager.all(), TenantRowsQuerySet)]
BY_LANES = {"ledger.Pending", "api.IdempotencyRecord"}


def named(model):
    return model._meta.label


def tenant_of(model) -> str:
    column = security_of(model).tenant_column
    return next(field.attname for field in model._meta.concrete_fields if field.column == column)


def other_field(model) -> models.Field | None:
    """A column that a queryset can change."""
    keys, tenant = {*model._meta.pk_fields}, tenant_of(model)
    free = [one for one in model._meta.concrete_fields if one not in keys and not one.generated]
    return next((one for one in free if one.attname != tenant and not hasattr(one, "protected")), None)


def row_of(model, tenant_id) -> models.Model:
    """A row that is not in the database."""
    row = model(**{tenant_of(model): tenant_id})
    for field in model._meta.pk_fields:
        if field.attname != tenant_of(model):
            values = {models.UUIDField: uuid4(), models.DateTimeField: now(), models.DateField: now().date()}
            setattr(row, field.attname, values.get(type(field.target_field if field.is_relation else field), "1"))
    row._state.adding = False
    return row


@contextmanager
def sent(alias: str = "default") -> Iterator[list[str]]:
    """Collect the SQL that Django sends, with numbered parameters."""
    found: list[str] = []

    def note(execute, sql, params, many, context):
        numbers = count(1)
        found.append("".join(f"{part}${next(numbers)}" for part in sql.split("%s")).rpartition("$")[0])
        return execute(sql, params, many, context)

    with connections[alias].execute_wrapper(note):
        yield found


def writes_of(model, action: Callable[[object], object]) -> list[str]:
    """The SQL of an action on the model's table; it changes nothing, and may be refused, for its row is not there."""
    with tenant_context(uuid4()), sent() as found:
        try:
            with transaction.atomic():
                action(uuid4())
                transaction.set_rollback(True)
        except (DatabaseError, ConcurrentTransition):
            pass
    return [sql for sql in found if f'"{model._meta.db_table}"' in sql and "SAVEPOINT" not in sql]


def columns_set(sql: str) -> set[str]:
    statement = parse_sql(sql)[0].stmt
    return {one.name for one in statement.targetList} if isinstance(statement, ast.UpdateStmt) else set()


def hold(model, action: Callable[[object], object]) -> None:
    found = writes_of(model, action)
    assert found
    assert [f"{fault}: {sql}" for sql in found for fault in rules().faults(sql)] == []
    assert not any(security_of(model).tenant_column in columns_set(sql) for sql in found)


# -- every tenant table ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_model_of_a_tenant_table_is_a_tenant_row(model):
    assert issubclass(model, TenantRow)
    assert (model in REFUSING) is (model._meta.label not in BY_LANES)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_save_names_the_tenant_and_does_not_set_it(model):
    if {*model._meta.concrete_fields} - {*model._meta.pk_fields}:
        hold(model, lambda tenant_id: row_of(model, tenant_id).save(force_update=True))


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_delete_names_the_tenant(model):
    hold(model, lambda tenant_id: row_of(model, tenant_id).delete())


@pytest.mark.parametrize("model", REFUSING, ids=named)
def test_queryset_writes_name_the_tenant(model):
    field = other_field(model)

    def rows(tenant_id):
        return model._default_manager.filter(**{tenant_of(model): tenant_id})

    hold(model, lambda tenant_id: rows(tenant_id).delete())
    if field:
        change = {field.attname: models.F(field.attname)}
        hold(model, lambda tenant_id: rows(tenant_id).update(**change))
        hold(model, lambda tenant_id: rows(tenant_id).exclude(**{field.attname: None}).update(**change))


@pytest.mark.parametrize("model", REFUSING, ids=named)
def test_bulk_writes_name_the_tenant(model):
    field = other_field(model)
    manager = model._default_manager
    if field and not isinstance(model._meta.pk, CompositePrimaryKey):
        hold(model, lambda tenant_id: manager.bulk_update([row_of(model, tenant_id)], [field.name]))
    hold(model, lambda tenant_id: manager.bulk_create([row_of(model, tenant_id)]))


@pytest.mark.parametrize("model", REFUSING, ids=named)
def test_queryset_without_a_tenant_is_refused_on_the_connection_of_the_service(model):
    label, tenant, field = model._meta.label, tenant_of(model), other_field(model)
    change = {field.attname: None} if field else {}
    everything = model._default_manager.all()
    either = everything.filter(models.Q(**{tenant: uuid4()}) | models.Q(**{tenant: uuid4()}))
    with tenant_context(uuid4()):
        for queryset in (everything, either, everything.exclude(**{tenant: uuid4()})):
            with pytest.raises(RuntimeError, match=f"DELETE of {label} names no tenant"):
                queryset.delete()
            with pytest.raises(RuntimeError, match=f"UPDATE of {label} names no tenant"):
                queryset.update(**change)
        with pytest.raises(RuntimeError, match=f"UPDATE of {label} sets the tenant"):
            everything.filter(**{tenant: uuid4()}).update(**{tenant: uuid4()})


def test_there_are_tenant_tables():
    assert {Product, Location, Membership} <= {*REFUSING}
    assert {apps.get_model(label) for label in BY_LANES} == {*MODELS} - {*REFUSING}


# -- behaviour ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def shelf():
    tenant = factories.provision("supplier")
    with tenant_context(tenant.id):
        return Category.objects.create(tenant_id=tenant.id, code="gloves", name="Gloves", parent_id=uuid4())


def stored(row):
    return type(row)._base_manager.using("platform").filter(pk=row.pk).values().first()


def test_saved_row_keeps_its_tenant_and_another_tenants_row_is_not_there(shelf):
    before = stored(shelf)
    stranger = factories.provision("supplier")
    with tenant_context(shelf.tenant_id):
        shelf.name = "Caps"
        shelf.save(update_fields=["name", "tenant"])
    assert stored(shelf) == {**before, "name": "Caps"}

    shelf.tenant_id = stranger.id
    with tenant_context(stranger.id), pytest.raises(DatabaseError):
        shelf.save(update_fields=["name"])
    assert stored(shelf) == {**before, "name": "Caps"}


def test_rows_are_changed_and_deleted_with_their_numbers(shelf):
    with tenant_context(shelf.tenant_id):
        mine = Category.objects.filter(tenant_id=shelf.tenant_id)
        shelf.name = "Caps"
        assert Category.objects.bulk_update([shelf], ["name"]) == mine.update(active=False) == 1
        assert (stored(shelf) is None, mine.none().delete(), mine.none().update(active=True)) == (False, (0, {}), 0)
        with pytest.raises(TypeError):
            mine[:1].delete()
        assert mine.delete() == (1, {"suppliers.Category": 1})
    assert stored(shelf) is None


def test_row_is_deleted_with_what_refers_to_it():
    tenant = factories.provision()
    with tenant_context(tenant.id):
        place = Location.objects.create(tenant_id=tenant.id, name="Ward", type="ward")
        place.words.create(tenant_id=tenant.id, word="ward")
        with sent() as found:
            number, each = place.delete()
    assert (number, each["organizations.LocationWord"], each["organizations.Location"]) == (2, 1, 1)
    assert [fault for sql in found for fault in rules().faults(sql)] == []
    assert stored(place) is None


def test_staff_writes_over_tenants_by_another_connection(shelf):
    other = factories.provision("supplier")
    with tenant_context(other.id):
        second = Category.objects.create(tenant_id=other.id, code="gloves", name="Gloves", parent_id=uuid4())

    assert Category.objects.using("platform").filter(id__in=[shelf.id, second.id]).update(active=False) == 2
    assert Category.objects.using("platform").filter(id__in=[shelf.id, second.id]).delete()[0] == 2
