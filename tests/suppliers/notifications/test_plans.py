"""Lists of notifications: their trips, their plans as the application's role, the counters, and the walls between tenants."""

import json

import pytest
from django.db import IntegrityError, connection, connections
from django.http import QueryDict

from api.listing import page_call, read_query
from bench.statements import recording
from core.db import tenant_context
from core.ids import uuid7
from suppliers.notifications.actions import WITHIN
from suppliers.notifications.models import Notification, NotificationRead
from suppliers.notifications.upkeep import HISTORY, make_months
from suppliers.notifications.views import AlertViewSet, NotificationViewSet
from tests import factories
from tests.suppliers.notifications.inbox import ALERTS, PATH, TABLES, counted, data, raised, rows

FILL = (
    "INSERT INTO suppliers_notification (id, created_at, updated_at, tenant_id, kind, type, severity, title, body, resource_type,"
    " resource_id, files, closed_at, archived_at) SELECT uuidv7(), now() - (n || ' min')::interval, now() - (n || ' min')::interval,"
    " (%s::uuid[])[n %% 12 + 1], 'alert', CASE WHEN n %% 36 < 12 THEN 'recall' ELSE 'low_stock' END, 'info', 't', 'b', 'lot', n::text,"
    " '[]', CASE WHEN n %% 240 >= 12 THEN now() END, CASE WHEN n %% 480 >= 240 THEN now() END FROM generate_series(0, 23999) n"
)


@pytest.fixture(scope="module")
def big():
    """One tenant of twelve with two thousand alerts each, of which few are open and half are archived."""
    tenant = factories.provision("supplier")
    ids = [str(tenant.id), *(str(uuid7()) for _ in range(11))]
    with connections["owner"].cursor() as cursor:
        cursor.execute(FILL, [ids])
        cursor.execute("ANALYZE suppliers_notification")
    yield tenant
    with connections["owner"].cursor() as cursor:
        cursor.execute("DELETE FROM suppliers_notification WHERE tenant_id = ANY(%s::uuid[])", [ids])
    connections["owner"].close()


def nodes(plan):
    return [plan] + [node for child in plan.get("Plans", ()) for node in nodes(child)]


def explained(view, tenant, query, mode):
    """Explain the page and the total of a list, prepared as the service prepares them."""
    asked = read_query(view.listing, QueryDict(query), "page")
    asked = type(asked)(asked.listing, asked.selection, asked.order, asked.conditions, (WITHIN,))
    call = page_call(asked, tenant.id, page=1, limit=20)
    name = f"plan_{uuid7().hex}"
    with tenant_context(tenant.id), connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("hp_app",)
        cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
        cursor.execute(f"PREPARE {name} AS {call.statement.sql.decode()}")
        marks = ", ".join(["%s"] * len(call.parameters))
        cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {name} ({marks})", list(call.parameters))
        answer = cursor.fetchone()[0]
        cursor.execute(f"DEALLOCATE {name}")
    return nodes((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"])


def parents(found):
    """The indexes of the whole table whose parts a plan uses."""
    used = [node["Index Name"] for node in found if "Index Name" in node]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT p.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent"
            " WHERE c.relname = ANY(%s)",
            [used],
        )
        return {row[0] for row in cursor.fetchall()} | set(used)


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize(
    ("view", "query", "index"),
    [
        (NotificationViewSet, "", "suppliers_notif_current"),
        (NotificationViewSet, "type=recall", "suppliers_notif_by_type"),
        (NotificationViewSet, "archived=true", "suppliers_notif_archived"),
        (NotificationViewSet, "sort=-updated_at", "suppliers_notif_updated"),
        (AlertViewSet, "", "suppliers_notif_open"),
    ],
)
def test_list_is_found_by_its_index(big, view, query, index, mode):
    found = explained(view, big, query, mode)
    assert index in parents(found)
    for node in found:
        assert node["Node Type"] != "Seq Scan" or not node["Relation Name"].startswith("suppliers_notification_")


def test_total_reads_the_counters_and_no_rows(big):
    found = explained(NotificationViewSet, big, "", "force_generic_plan")
    assert "suppliers_notificationcounter" in {node.get("Relation Name") for node in found}


def statements(api, path):
    with recording() as seen:
        assert api.get(path).status_code == 200
    return len(seen)


@pytest.mark.parametrize("path", [PATH, ALERTS, f"{PATH}?unread=true", f"{PATH}?archived=true"])
def test_list_takes_as_many_trips_for_one_row_as_for_three(shelf, path):
    api = factories.as_member(shelf.tenant, ["supplier_admin"])
    raised(shelf, subject="s0")
    first = statements(api, path)
    for number in (1, 2):
        raised(shelf, subject=f"s{number}")
    assert statements(api, path) == first


def test_total_of_a_limited_member_counts_what_it_reaches(shelf):
    place, elsewhere = shelf.place("Hall 1"), shelf.place("Hall 2")
    for number, location in enumerate((place, elsewhere, None)):
        raised(shelf, subject=f"s{number}", location_id=location)
    person, _ = factories.member(shelf.tenant, ["supplier_warehouse"], location_ids=[place])
    limited = factories.Api(token=factories.bearer(person), tenant=shelf.tenant)
    seen = data(limited.get(PATH))
    assert (seen["total"], sorted(one["location_id"] or "" for one in seen["items"])) == (2, ["", str(place)])
    assert data(shelf.api.get(PATH))["total"] == counted(shelf)["current"] == 3


@pytest.mark.parametrize("model", TABLES, ids=lambda one: one.__name__)
def test_rows_of_another_tenant_are_behind_the_wall(shelf, buyer, model):
    row = raised(shelf)
    data(shelf.api.patch(f"{PATH}/{row.id}", json={"read": True}))
    with tenant_context(buyer.id):
        assert not model.objects.filter(tenant_id=shelf.id).exists()
        assert not model.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        "kind = 'message'", "type = 'message'", "severity = 'grave'", "acknowledged_at = now()", "thread_id = uuidv7()",
        "sender_id = uuidv7()",
    ],
)  # fmt: skip
def test_row_that_contradicts_itself_is_refused_by_the_database(shelf, change):
    row = raised(shelf)
    with pytest.raises(IntegrityError), tenant_context(shelf.id), connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE suppliers_notification SET {change} WHERE tenant_id = %s AND id = %s", [shelf.id, row.id]
        )
    assert len(rows(shelf)) == 1


def test_months_are_made_ahead_and_once():
    make_months(at=factories.now())
    assert make_months(at=factories.now()) == []
    assert HISTORY.table == Notification._meta.db_table


def test_mark_of_a_reader_is_gone_with_unread(shelf):
    row = raised(shelf)
    for given, number in ((True, 1), (False, 0), (False, 0)):
        data(shelf.api.patch(f"{PATH}/{row.id}", json={"read": given}))
        assert len(rows(shelf, NotificationRead)) == number
