"""PostgreSQL's JSON of every representation equals what DRF renders from the same rows; every list has sound sorts."""

import importlib
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.db import connections, transaction
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from rest_framework.renderers import JSONRenderer

from api.filters import Condition
from api.listing import Listing, Query, cursor_call, order
from api.representations import Representation
from api.shapes import Field, Selection, Shape
from api.sorts import Sort
from config import urls  # noqa: F401  (imports every view, and with them every list)
from core.conditions import TENANT
from core.db import BOUND_TENANT
from core.row_security import security_of
from organizations.public import ReceivedDocument
from prescriptions.medications.models import PlatformMedication
from prescriptions.medications.representations import MedicationOut
from prescriptions.prescribing.representations import SnapshotRefOut
from suppliers.catalog.models import Category
from suppliers.catalog.representations import CategoryOut
from suppliers.company.representations import SupplierProfileOut
from suppliers.notifications.representations import AlertOut, PreferencesOut
from suppliers.pricing.representations import ListPriceOut
from suppliers.storefront.representations import ProductOut
from tests import factories
from tests.architecture.declared import listings, shapes
from tests.architecture.generated_rows import ALIAS, RULES, World

EXAMPLES = 12
MORE = 20  # at most so many times as many examples, where chance has made all rows alike
ROOT = Path(__file__).parents[2]

# Rows of a derived table that other models give, beside those of the representation's own.
BESIDE = {CategoryOut: (Category,), MedicationOut: (PlatformMedication,)}
# What rows must be for a representation to show them, where chance would seldom make them so.
SHOWN: dict[type[Representation], dict[str, Any]] = {
    AlertOut: {"kind": "alert", "in_app": True, "closed_at": None, "archived_at": None}
}
# A tenant has one row of these at most.
ONE_OF_A_TENANT = {SupplierProfileOut, PreferencesOut}


def _import_everything() -> None:
    """Import every module that may declare a representation, also one that no view names yet."""
    for config in apps.get_app_configs():
        folder = Path(config.path)
        if folder.is_relative_to(ROOT) and ".venv" not in folder.parts:
            for path in folder.rglob("*.py"):
                if "representations" in path.relative_to(ROOT).as_posix():
                    importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def _below(kind: type[Representation]) -> Iterator[type[Representation]]:
    for one in kind.__subclasses__():
        yield one
        yield from _below(one)


_import_everything()
KINDS = sorted(
    {one for one in _below(Representation) if hasattr(one, "Meta") and not one.__module__.startswith("tests.")},
    key=lambda one: f"{one.__module__}.{one.__name__}",
)
# Those of the tests' own documents have tables only while their tests run.
SHAPES = [one for one in shapes() if "tests_" not in one.table]
LISTINGS = listings()


@pytest.fixture(scope="module")
def tenant():
    return factories.provision("supplier", qualified=False)


# -- both sides --------------------------------------------------------------------------------------------------------


def _bind(tenant_id: Any) -> None:
    with connections[ALIAS].cursor() as cursor:
        cursor.execute("SELECT set_config('app.tenant_id', %s, true)", [str(tenant_id)])


def written(shape: Shape, tenant_id: Any, keys: list[str]) -> dict[str, Any]:
    """What PostgreSQL writes, by the statement of a list: the JSON of the rows that can be seen, by their keys."""
    key = shape.model._meta.pk.column
    listing = Listing(shape, None, {"key": Sort(key, "uuid")}, "key")
    selection = Selection(None, tuple(member.name for member in shape.includes))
    those = Condition(f't."{key}" = ANY({{0}}::uuid[])', ("{" + ",".join(keys) + "}",))
    call = cursor_call(
        Query(listing, selection, order(listing, "key"), (), (those,)), tenant_id, after=None, limit=1000
    )
    with psycopg.RawCursor(connections[ALIAS].connection) as cursor:
        cursor.execute(call.statement.sql, call.parameters)
        return {row[1]: json.loads(row[0]) for row in cursor.fetchall()}


def rendered(kind: type[Representation], key: str) -> Any:
    """What DRF renders from the row."""
    shape = kind.shape
    rows = shape.model._base_manager.using(ALIAS)
    if shape.rows:
        table = shape.table.replace(TENANT, BOUND_TENANT)
        with connections[ALIAS].cursor() as cursor:
            cursor.execute(f"SELECT * FROM {table} t LIMIT 0")
            there = {column.name for column in cursor.description}
        columns = [field.column for field in shape.model._meta.concrete_fields if field.column in there]
        names = ", ".join(f't."{column}"' for column in columns)
        (row,) = rows.raw(f"SELECT {names} FROM {table.replace('%', '%%')} t WHERE t.id = %s", [key])
    else:
        row = rows.get(pk=key)
    data = kind(row).data
    revealed = getattr(kind.Meta, "revealed", ())  # type: ignore[attr-defined]
    return json.loads(JSONRenderer().render({name: value for name, value in data.items() if name not in revealed}))


def differences(sql: Any, drf: Any, where: str = "") -> Iterator[str]:
    """Where two JSON values differ; numbers are equal by value, but no number is a boolean, and members keep their order."""
    if isinstance(sql, dict) and isinstance(drf, dict):
        if list(sql) != list(drf):
            yield f"{where}: {list(sql)} is not {list(drf)}"
            return
        for name in sql:
            yield from differences(sql[name], drf[name], f"{where}.{name}")
    elif isinstance(sql, list) and isinstance(drf, list):
        if len(sql) != len(drf):
            yield f"{where}: {len(sql)} rows, not {len(drf)}"
        for position, pair in enumerate(zip(sql, drf, strict=False)):
            yield from differences(*pair, f"{where}[{position}]")
    elif isinstance(sql, bool) != isinstance(drf, bool) or sql != drf:
        yield f"{where}: PostgreSQL wrote {sql!r}, DRF {drf!r}"


def hold(
    kind: type[Representation], tenant_id: Any, shape: Shape, examples: int, seeded: int = 0
) -> dict[str, set[str]]:
    """Compare both sides over generated rows; return the different values that each member had.

    The rows follow from `seeded`: where CI is set, Hypothesis would otherwise draw the same ones at each call.
    """
    seen: dict[str, set[str]] = defaultdict(set)

    # Without shrinking: a fault is named by its member, and to shrink rows of a database takes minutes.
    @seed(seeded)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def same(data: Any) -> None:
        with transaction.atomic(using=ALIAS):
            for found in _example(kind, data, tenant_id, shape):
                for name, value in found.items():
                    seen[name].add(json.dumps(value))
            transaction.set_rollback(True, using=ALIAS)

    same()
    return seen


def _example(kind: type[Representation], data: Any, tenant_id: Any, shape: Shape) -> Iterator[dict[str, Any]]:
    """Make some rows, and compare what can be seen of them."""
    world = World(data.draw, tenant_id)
    most = 1 if kind in ONE_OF_A_TENANT else 3
    rows = [world.add_shown(kind, **SHOWN.get(kind, {})) for _ in range(data.draw(st.integers(1, most)))]
    rows += [world.add(model) for model in BESIDE.get(kind, ())]
    by_tenant: dict[Any, list[str]] = defaultdict(list)
    for values in rows:
        owner = values.get(_attribute(shape), tenant_id)
        by_tenant[owner].append(str(values[shape.model._meta.pk.attname]))
    for owner, keys in by_tenant.items():
        _bind(owner)
        for key, found in written(shape, owner, keys).items():
            told = list(differences(found, rendered(kind, key)))
            assert not told, f"{kind.__name__} {key}: {'; '.join(told)}"
            yield found


def _attribute(shape: Shape) -> str:
    column = shape.tenant_column or security_of(shape.model).tenant_column
    return next((field.attname for field in shape.model._meta.concrete_fields if field.column == column), "")


# Members that are the same in all generated rows: the database lets nobody add items to a prescription that has a snapshot,
# and a profile has the id of its tenant.
# An alert that is open has no thread, and is neither closed nor archived.
ALIKE_ALERTS = {"kind", "thread_id", "closed_at", "archived_at"}
ALIKE: dict[type[Representation], set[str]] = {
    SnapshotRefOut: {"id"},
    SupplierProfileOut: {"id"},
    AlertOut: ALIKE_ALERTS,
}


# -- every representation ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_json_of_postgresql_is_that_of_drf(kind, tenant, long):
    examples = EXAMPLES * 10 if long else EXAMPLES
    seen = hold(kind, tenant.id, kind.shape, examples)
    members = {member.name for member in (*kind.shape.fields, *kind.shape.includes)}
    columns = {
        name for name, field in kind().fields.items() if field.source not in {"*", ""} and not hasattr(field, "sql")
    }
    columns -= {"tenant_id"} | ALIKE.get(kind, set())
    for more in range(1, MORE + 1):
        if not (still := {name for name in columns & members if len(seen[name]) < 2}):
            break
        for name, values in hold(kind, tenant.id, kind.shape, examples, seeded=more).items():
            seen[name] |= values
    assert set(seen) == members
    assert not still, f"{kind.__name__}: the rows never told {still} apart"


def test_there_are_representations():
    assert {ProductOut, CategoryOut, ListPriceOut} <= set(KINDS)


# -- the oracle sees faults --------------------------------------------------------------------------------------------


def faulty(shape: Shape, name: str, before: str, after: str) -> Shape:
    """The same form with one member's SQL changed."""

    def changed(member: Field) -> Field:
        if member.name != name:
            return member
        assert before in member.sql, member.sql
        return replace(member, sql=member.sql.replace(before, after))

    return replace(
        shape,
        fields=tuple(changed(member) for member in shape.fields),
        includes=tuple(changed(member) for member in shape.includes),
    )


@pytest.mark.parametrize(
    ("kind", "member", "before", "after"),
    [
        pytest.param(ProductOut, "name", '"name"', '"supplier_sku"', id="wrong column"),
        pytest.param(ProductOut, "packagings", '."gtin"', '."level"', id="wrong column of a row"),
        pytest.param(ProductOut, "packagings", '"position"', '"position" DESC', id="wrong order"),
        pytest.param(ProductOut, "packagings", "'removed'", "'current'", id="wrong condition of rows"),
        pytest.param(ProductOut, "brand", "NULLIF(", "coalesce(", id="empty text not null"),
        pytest.param(ProductOut, "storage", "CASE WHEN", "CASE WHEN true OR", id="object that should be null"),
        pytest.param(ProductOut, "stock", "coalesce(sum(v.on_hand), 0)", "sum(v.on_hand)", id="null that should be 0"),
        pytest.param(ProductOut, "created_at", ".MS", ".US", id="instant with too many decimals"),
        pytest.param(ProductOut, "created_at", "'UTC'", "'Asia/Tokyo'", id="instant of another zone"),
        pytest.param(ProductOut, "prices", '"min_quantity")', '"min_quantity" DESC)', id="wrong order of rows of rows"),
    ],
)
def test_planted_fault_is_found(kind, member, before, after, tenant):
    shape = faulty(kind.shape, member, before, after)
    with pytest.raises((AssertionError, ExceptionGroup)) as caught:
        hold(kind, tenant.id, shape, 150)
    assert f".{member}" in str(caught.value) or isinstance(caught.value, ExceptionGroup)


@pytest.mark.parametrize(
    ("sql", "drf", "told"),
    [
        ({"a": 1}, {"a": True}, 1),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 1),
        ([1, 2], [2, 1], 2),
        ([1], [1, 1], 1),
        ({"a": None}, {"a": ""}, 1),
        ({"a": 2.0}, {"a": 2}, 0),
        ({"a": "2.0"}, {"a": "2"}, 1),
    ],
)
def test_differences_are_told(sql, drf, told):
    assert len(list(differences(sql, drf))) == told


class ImpossibleOut(Representation):
    """A row that its table never takes; declared in the tests, so it is not among those that are held."""

    class Meta:
        model = Category
        fields = ("id",)


def test_rows_that_cannot_be_generated_fail_the_test(tenant, monkeypatch):
    def own_parent(draw, values):
        values["parent_id"] = values["id"]

    monkeypatch.setitem(RULES, Category, own_parent)
    with pytest.raises(LookupError, match="no row of Category keeps its constraints by chance"):
        hold(ImpossibleOut, tenant.id, ImpossibleOut.shape, 1)
    assert ImpossibleOut not in KINDS


# -- every list --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_shape_selects_from_its_table(shape):
    everything = Selection(None, tuple(member.name for member in shape.includes))
    where = f"WHERE {shape.where}" if shape.where else ""
    members = f"CROSS JOIN LATERAL (SELECT {shape.select(everything)}) r"
    sql = f"SELECT r.* FROM {shape.table} t {members} {where} LIMIT 0".replace(TENANT, "NULL::uuid")
    with connections["platform"].cursor() as cursor:
        cursor.execute(sql.replace("%", "%%"), [])
        names = [column.name for column in cursor.description]
    assert names == [member.name for member in (*shape.fields, *shape.includes)]


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda listing: listing.shape.name)
def test_sort_keys_are_never_null_columns(listing):
    columns = {field.column: field for field in listing.shape.model._meta.concrete_fields}
    for key in listing.sorts.values():
        assert key.column not in columns or not columns[key.column].null  # a derived table has columns of its own
    assert listing.default_sort.removeprefix("-") in listing.sorts
    is_kept_otherwise = issubclass(listing.shape.model, ReceivedDocument) or listing.shape.name in {
        "event",
        "webhook delivery",
    }
    assert {"created_at", "updated_at"} <= set(listing.sorts) or is_kept_otherwise or "updated_at" not in columns
