"""Every registered statement and every compiled list keeps the rules of the tables; planted offenders are found."""

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from itertools import chain
from uuid import uuid4

import pytest
from django.http import QueryDict

from api.listing import CONTROL, Listing, cursor_call, one_call, page_call, read_query
from api.shapes import Selection, Shape
from api.views import ApiViewSet
from core import pipeline, rows
from core.conditions import Condition, all_of
from core.errors import InvalidFields
from core.pipeline import Call
from core.row_security import tenant_models
from tests.architecture.contracts import ROOT, root_packages
from tests.architecture.declared import listings, shapes
from tests.architecture.sql_rules import Rules
from tests.architecture.statements import faults


def _import_everything() -> None:
    """Import every module of the service that may register a statement."""
    for package in root_packages():
        for found in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if ".migrations" not in found.name and "management" not in found.name:
                importlib.import_module(found.name)


def _views(kind: type[ApiViewSet] = ApiViewSet) -> Iterator[type[ApiViewSet]]:
    for one in kind.__subclasses__():
        yield one
        yield from _views(one)


def _is_ours(module: str) -> bool:
    return not module.startswith("tests.")


_import_everything()
STATEMENTS = sorted(pipeline.registered, key=lambda one: one.sql)
SHAPES = [one for one in shapes() if _is_ours(one.representation.__module__)]
LISTINGS = [one for one in listings() if one.shape in SHAPES]
RESTRICTED = [view for view in _views() if view.restriction is not None and _is_ours(view.__module__)]
TENANT = uuid4()


def faults_of(*calls: Call) -> list[str]:
    texts = {call.statement.sql.decode() for call in calls}
    return [f"{fault}: {sql}" for sql in texts for fault in faults(sql, across=False)]


# -- the statements of the service -------------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda one: one.sql.decode().strip()[:60])
def test_registered_statement_keeps_the_rules(statement):
    assert faults(statement.sql.decode(), across=bool(statement.across)) == ()


# SQL that a cursor sends: whole statements among the constants of modules. What works over many tenants stands here, and
# is held to the other rules alone.
OVER_TENANTS = {
    "core.isolation": "the catalog",
    "prescriptions.unguarded_histories": "an alarm for the platform's staff",
    "webhooks.statements": "the dispatcher's queues",
    "webhooks.queries": "whether the queues hold anything",
    "webhooks.backlogs": "figures of the queues",
    "webhooks.history.retention": "upkeep",
    "webhooks.metrics": "figures of the service",
    "webhooks.health": "endpoints of all tenants that fail",
    "ledger.relay": "the relay's queue",
    "ledger.backlogs": "figures of the queue",
    "api.tasks": "deletion of old keys, lane by lane",
    "fhir_api.exports.settling": "open transactions",
    "suppliers.catalog.duplicates": "GTINs of all suppliers, compared by the platform's staff",
    "suppliers.marketplace.searching": "the market, by its own role",
    "suppliers.storefront.discovery.shapes": "the market, by its own role",
    "suppliers.storefront.market.shapes": "the market, by its own role",
    "suppliers.storefront.stock.availability": "the market, by its own role",
}
# Texts that begin like a statement and are not a whole one.
PIECES = {
    "core.rows.__doc__",
    "fhir_api.history._MINE",
    "organizations.queries.location_reach._TREE",
    "suppliers.analytics.stock._ALLOCATED",
    "webhooks.handlers._STORE",
    "suppliers.analytics.reports.sources.base._KEEP",
    "suppliers.storefront.files.shapes._OFFERED",
    "webhooks.replays.batches._BATCH",
}
_MARK = re.compile(r"%\(\w+\)s|%s")


def _constants() -> Iterator[tuple[str, str]]:
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] in root_packages() and ".migrations." not in name:
            for constant, value in vars(module).items():
                is_sql = isinstance(value, str) and re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s", value)
                if is_sql and f"{name}.{constant}" not in PIECES:
                    yield f"{name}.{constant}", _MARK.sub("$1", value).replace("%%", "%").replace("$tenant", "$1")


CONSTANTS = [pytest.param(sql, name.rpartition(".")[0] in OVER_TENANTS, id=name) for name, sql in _constants()]


@pytest.mark.parametrize(("sql", "across"), CONSTANTS)
def test_constant_statement_keeps_the_rules(sql, across):
    assert faults(sql, across=across) == ()


@pytest.mark.parametrize("model", [*tenant_models()], ids=lambda model: model._meta.label)
def test_insert_of_rows_keeps_the_rules(model):
    one, _ = rows._plan(model)
    many = rows._many(model, tuple(field.column for field in model._meta.concrete_fields if not field.generated))
    assert faults_of(Call(one), Call(many)) == []


# -- compiled representations and lists --------------------------------------------------------------------------------


def _everything(shape: Shape) -> Selection:
    return Selection(None, tuple(sorted(member.name for member in shape.includes)))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_single_read_keeps_the_rules(shape):
    each = [Selection((member.name,)) for member in shape.fields]
    each += [Selection(None, (member.name,)) for member in shape.includes]
    chosen = [Selection(), _everything(shape), *each]
    assert faults_of(*(one_call(shape, one, TENANT, "1") for one in chosen)) == []


@pytest.mark.parametrize("view", RESTRICTED, ids=lambda view: view.__name__)
def test_restricted_read_and_list_keep_the_rules(view):
    shape = view.serializer_class.shape
    extra = all_of([view.restriction, Condition('t."id" IS NOT NULL')])
    listing = Listing.of(view.serializer_class, ordering_fields=view.ordering_fields, ordering=view.ordering)
    query = read_query(listing, QueryDict(""), "cursor")
    narrowed = type(query)(query.listing, query.selection, query.order, query.conditions, (extra,))
    single = one_call(shape, Selection(), TENANT, "1", extra)
    assert faults_of(single, cursor_call(narrowed, TENANT, after=None, limit=20)) == []


def _pages(listing: Listing, text: str, *, whole: bool = False) -> Iterator[Call]:
    """The statements of both kinds of lists, at the first page and at a later one; of one member unless `whole`.

    What narrows and sorts a list does not depend on its members, and those make most of its text.
    """
    one = "" if whole else f"&fields={listing.shape.fields[0].name}"
    query = read_query(listing, QueryDict(text + one), "page", "cursor")
    yield page_call(query, TENANT, page=1, limit=20)
    yield page_call(query, TENANT, page=3, limit=7)
    yield cursor_call(query, TENANT, after=None, limit=50)
    yield cursor_call(query, TENANT, after=("1",) * len(query.order.keys), limit=7)


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda listing: listing.shape.name)
def test_list_keeps_the_rules_in_every_order(listing):
    names = [*listing.sorts]
    include = ",".join(member.name for member in listing.shape.includes[:5])
    singles = [f"sort={sign}{name}" for sign in ("", "-") for name in names]
    whole = [_pages(listing, text, whole=True) for text in ("", f"include={include}", *singles)]
    pairs = [_pages(listing, f"sort=-{one},{two}") for one in names for two in names]
    assert faults_of(*chain(*whole, *pairs)) == []


def _accepted(listing: Listing, name: str) -> list[str]:
    """The query strings of a filter that a list accepts, out of many guesses."""
    field = listing.filters.base_filters[name]
    choices = [str(value) for value, _ in field.extra.get("choices", ())]
    words = ["gloves", "nitrile+gloves+m", "supplier", "product.created", "evt_" + "0" * 32]
    states = [
        "draft",
        "archived",
        "IV",
        "active",
        "available",
        "created",
        "pending",
        "delivered",
        "failed",
        "queued",
        "requested",
    ]
    more = [
        "ready",
        "sent",
        "shipped",
        "recall",
        "warning",
        "certificate",
        "renewal",
        "booked",
        "signed",
        "none",
        "open",
        "tenant",
        "2026-01-02",
        "receipt",
        "quantity",
        "matched",
        "credit_note",
        "orders",
        "csv",
    ]
    guesses = [
        *choices,
        *words,
        *states,
        *more,
        str(uuid4()),
        "true",
        "2026-01-02T03:04:05Z",
        "1",
        "a@example.org",
        "200",
    ]
    found = []
    for guess in guesses:
        try:
            read_query(listing, QueryDict(f"{name}={guess}"))
        except InvalidFields:
            continue
        found.append(f"{name}={guess}")
    return found


FILTERS = [
    pytest.param(listing, name, id=f"{listing.shape.name}-{name}")
    for listing in LISTINGS
    if listing.filters
    for name in listing.filters.base_filters
    if name not in CONTROL
]


@pytest.mark.parametrize(("listing", "name"), FILTERS)
def test_list_keeps_the_rules_with_every_filter(listing, name):
    accepted = _accepted(listing, name)
    assert accepted, "no guess is a value of this filter"
    pages = [_pages(listing, text, whole=number == 0) for number, text in enumerate(accepted)]
    assert faults_of(*chain(*pages)) == []


def test_there_are_statements_shapes_and_lists():
    assert len(STATEMENTS) > 50
    assert {"product", "category", "webhook delivery"} <= {shape.name for shape in SHAPES}
    assert {"product", "webhook delivery"} <= {listing.shape.name for listing in LISTINGS}
    assert RESTRICTED


# -- planted offenders -------------------------------------------------------------------------------------------------

HERE = Rules(
    {"bed": "tenant_id", "ward": "tenant_id"}, frozenset({"now", "uuidv7", "convert_to"}), frozenset({"now", "uuidv7"})
)


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("SELECT 1 FROM bed", "bed bed is not narrowed"),
        ("SELECT 1 FROM bed WHERE id = $1", "bed bed is not narrowed"),
        ("SELECT 1 FROM bed WHERE tenant_id = current_setting('app.tenant_id')::uuid", "bed bed is not narrowed"),
        ("SELECT 1 FROM bed WHERE tenant_id = (SELECT $1::uuid)", "bed bed is not narrowed"),
        ("SELECT 1 FROM bed WHERE tenant_id = $1 OR shared", "bed bed is not narrowed"),
        ("SELECT 1 FROM bed WHERE NOT (tenant_id = $1)", "bed bed is not narrowed"),
        ("SELECT 1 FROM bed WHERE tenant_id <> $1", "bed bed is not narrowed"),
        ("SELECT 1 FROM bed b JOIN ward w ON w.tenant_id = b.tenant_id WHERE b.tenant_id = $1", "ward w is not"),
        ("SELECT 1 FROM bed b JOIN ward w USING (tenant_id) WHERE b.tenant_id = $1", "ward w is not"),
        ("SELECT 1 FROM bed b LEFT JOIN ward w ON b.tenant_id = $1 AND w.tenant_id = $1", "bed b is not"),
        ("SELECT 1 FROM bed b, ward w WHERE tenant_id = $1 AND w.tenant_id = $1", "bed b is not"),
        ("SELECT (SELECT count(*) FROM ward w WHERE w.tenant_id = b.tenant_id) FROM bed b WHERE b.tenant_id = $1", "ward w"),
        ("SELECT 1 FROM bed b WHERE b.tenant_id = $1 AND EXISTS (SELECT 1 FROM ward w WHERE w.id = b.id)", "ward w"),
        ("WITH all_of AS (SELECT * FROM ward) SELECT 1 FROM all_of WHERE tenant_id = $1", "ward ward is not"),
        ("WITH ward AS (SELECT * FROM ward) SELECT 1 FROM ward", "ward ward is not"),
        ("SELECT 1 FROM bed WHERE tenant_id = $1 UNION ALL SELECT 1 FROM ward", "ward ward is not"),
        ("SELECT 1 FROM (SELECT tenant_id FROM bed WHERE open) b WHERE b.tenant_id = $1", "bed bed is not"),
        ("SELECT 1 FROM (SELECT tenant_id FROM bed UNION ALL SELECT $1) b WHERE b.id = $1", "bed bed is not"),
        ("SELECT 1 FROM (SELECT id AS tenant_id FROM bed UNION ALL SELECT $1) b WHERE b.tenant_id = $1", "bed bed is not"),
        ("UPDATE bed SET name = $1 WHERE id = $2", "bed bed is not narrowed"),
        ("UPDATE bed SET name = w.name FROM ward w WHERE bed.tenant_id = $1 AND w.id = bed.id", "ward w is not"),
        ("DELETE FROM bed WHERE id = $1", "bed bed is not narrowed"),
        ("DELETE FROM bed b USING ward w WHERE b.tenant_id = $1 AND w.id = b.id", "ward w is not"),
        ("INSERT INTO bed VALUES ($1, $2)", "does not name tenant_id"),
        ("INSERT INTO bed (id) VALUES ($1)", "does not name tenant_id"),
        ("INSERT INTO bed (id, tenant_id) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING", "ON CONFLICT of bed"),
        ("INSERT INTO bed (tenant_id) SELECT $1 FROM unnest($2::text[])", "without RETURNING"),
        ("WITH w AS (INSERT INTO bed (tenant_id) SELECT $1::uuid) SELECT 1", "without RETURNING"),
        ("SELECT count(*) FROM bed WHERE tenant_id = $1 GROUP BY name", "GROUP BY does not hold"),
        ("UPDATE bed SET at = COALESCE(at, now()) WHERE tenant_id = $1", "now() inside CASE or COALESCE"),
        ("UPDATE bed SET at = CASE WHEN open THEN now() END WHERE tenant_id = $1", "now() inside CASE or COALESCE"),
        ("UPDATE bed SET at = COALESCE(at, current_timestamp) WHERE tenant_id = $1", "current_timestamp inside"),
        ("INSERT INTO bed (tenant_id, id) VALUES ($1, COALESCE($2, uuidv7()))", "uuidv7() inside"),
        ("WITH w AS (UPDATE bed SET n = 1 WHERE tenant_id = $1) SELECT COALESCE($2, now())", "now() inside"),
        ("UPDATE bed SET n = CASE WHEN open THEN convert_to(n, 'UTF8') END WHERE tenant_id = $1", "convert_to() inside"),
        ("INSERT INTO bed (tenant_id) VALUES ($1) ON CONFLICT (tenant_id) DO UPDATE SET at = COALESCE(bed.at, now())", "now()"),
        ("UPDATE bed SET n = CASE state WHEN 'open' THEN 1 END WHERE tenant_id = $1", "simple CASE"),
        ("SELECT 1 WHERE EXISTS (SELECT FROM bed WHERE tenant_id = $1)", "the select list is empty"),
        ("MERGE INTO bed USING ward ON true WHEN MATCHED THEN DELETE", "MERGE"),
    ],
)  # fmt: skip
def test_planted_offender_is_found(sql, fault):
    assert any(fault in one for one in HERE.faults(sql))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM bed WHERE tenant_id = $1",
        "SELECT 1 FROM bed b WHERE $1::uuid = b.tenant_id AND b.id = $2",
        "SELECT 1 FROM bed b LEFT JOIN ward w ON w.tenant_id = $1 AND w.id = b.ward_id WHERE b.tenant_id = $1",
        "SELECT 1 FROM nation n JOIN bed b ON b.tenant_id = $1",
        "WITH RECURSIVE up AS (SELECT 1 FROM bed WHERE tenant_id = $1 UNION SELECT 1 FROM up) SELECT 1 FROM up",
        "WITH made AS (INSERT INTO bed (tenant_id) SELECT $1::uuid RETURNING 1) SELECT 1 FROM made",
        "INSERT INTO bed (tenant_id, id) VALUES ($1, $2) ON CONFLICT (tenant_id, id) DO UPDATE SET id = EXCLUDED.id",
        "UPDATE bed b SET at = $3 FROM ward w WHERE b.tenant_id = $1 AND w.tenant_id = $1 AND w.id = b.ward_id",
        "SELECT CASE state WHEN 'open' THEN COALESCE(at, now()) END FROM bed WHERE tenant_id = $1",
        "WITH w AS (SELECT COALESCE(convert_to(n, 'UTF8'), '') FROM nation) UPDATE bed b SET n = 1 FROM w WHERE b.tenant_id = $1",
        "SELECT 1 FROM (SELECT id, tenant_id FROM bed UNION ALL SELECT NULL, NULL) b WHERE b.tenant_id = $1",
        "SELECT tenant_id, count(*) FROM bed WHERE tenant_id = $1 GROUP BY tenant_id, name",
    ],
)
def test_sound_statement_has_no_fault(sql):
    assert HERE.faults(sql) == []


def test_statement_across_tenants_is_held_to_the_other_rules():
    sql = "WITH gone AS (DELETE FROM bed WHERE at < $1 RETURNING 1) SELECT CASE 1 WHEN 1 THEN 2 END FROM gone"

    assert HERE.faults(sql, across=True) == ["simple CASE in a write"]
    assert HERE.faults("SELECT 1 WHERE EXISTS (SELECT FROM bed)", across=True) == ["the select list is empty"]


def test_statements_are_known_while_they_live():
    statement = pipeline.Statement.of("SELECT 'known while it lives'", across="tests")

    assert statement in pipeline.registered
    assert pipeline.Statement.composed("SELECT 'composed for the test'") in pipeline.registered
    assert statement.across == "tests"


def keeps_composed(source: str) -> list[str]:
    """The functions of a source that keep what they return and compose a statement, which has no name the first time."""
    return [
        one.name
        for one in ast.walk(ast.parse(source))
        if isinstance(one, ast.FunctionDef)
        and any("cache" in ast.unparse(decorator) for decorator in one.decorator_list)
        and "Statement.composed" in ast.unparse(one)
    ]


def test_no_composed_statement_is_kept():
    """It would be planned at each execution: the market's page took 7 ms of PostgreSQL for it instead of 3."""
    files = (path for package in root_packages() for path in (ROOT / package).rglob("*.py"))
    found = {path.as_posix(): keeps_composed(path.read_text()) for path in files}
    assert {path: names for path, names in found.items() if names} == {}
    planted = "@lru_cache(maxsize=2)\ndef page(sort):\n    return Statement.composed(sort)\n"
    assert keeps_composed(planted) == ["page"]
