"""The rule of which rows a membership's locations reach: as SQL, as a queryset, over HTTP, and bound to nothing else."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.http import QueryDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.listing import cursor_call, read_query
from core import pipeline
from core.actor import Actor, Subject, SubjectKind, system_actor
from core.conditions import TENANT
from core.db import OWN, bind_tenant, role_context, tenant_context
from core.ids import uuid7
from core.pipeline import Call, Statement
from core.row_security import DISPATCHER
from organizations import membership_sql
from organizations.models import Location, Membership
from organizations.public import LocationReach, reach
from organizations.views.locations import LocationViewSet
from tests.factories import Api, as_member, bearer, member, new_api_key, provision, user

PATH = "/v1/locations"
BOUND = ("app.tenant_id", "app.subject_id", "app.location_ids", "role")
# A location has an id always and a parent sometimes, so it stands for every kind of row that has locations.
RULES = [
    reach(*fields, null=null, below=below)
    for fields in (("id",), ("parent_id",), ("id", "parent_id"))
    for null in (False, True)
    for below in (False, True)
]


def bound() -> list[str | None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT " + ", ".join(f"current_setting('{name}', true)" for name in BOUND))
        return list(cursor.fetchone())


def names(answer):
    assert answer.status_code == 200, answer.content
    return sorted(one["name"] for one in answer.json()["data"])


def add_locations(tenant, parents: dict[str, str]) -> dict[str, UUID]:
    """Make locations by name, each within the named parent; "" for none."""
    ids: dict[str, UUID] = {}
    with tenant_context(tenant.id):
        for name, parent in parents.items():
            row = Location(tenant_id=tenant.id, name=name, type="ward", parent_id=ids.get(parent))
            row.save(force_insert=True)
            ids[name] = row.id
    return ids


class Holder:
    """A person with one membership in a tenant of eight locations; the membership's own locations are set by `limit`."""

    def __init__(self) -> None:
        self.tenant = provision()
        parents = {"a": "", "aa": "a", "aaa": "aa", "ab": "a", "b": "", "ba": "b", "c": ""}
        self.ids = add_locations(self.tenant, parents)
        self.person, self.membership = member(self.tenant)
        with tenant_context(self.tenant.id):
            self.rows = list(Location.objects.filter(tenant_id=self.tenant.id))
        self.parents = {row.id: row.parent_id for row in self.rows}
        self.subject = Subject(id=self.person.id, kind=SubjectKind.USER, credential="session:test")

    def limit(self, location_ids: list[UUID]) -> Actor:
        """Limit the membership to these locations and return its actor."""
        with tenant_context(self.tenant.id):
            Membership._base_manager.filter(pk=self.membership.pk).update(location_ids=location_ids)
        return Actor(self.subject, self.tenant.id, self.membership.pk, location_ids=frozenset(location_ids))

    @property
    def proof(self) -> Call:
        """The statement that binds the membership."""
        return membership_sql.one_tenant(self.subject, self.tenant.id, OWN)

    def select(self, sql: str) -> Call:
        """The statement that reads the tenant's locations under a condition."""
        text = f"SELECT t.id::text FROM organizations_location t WHERE t.tenant_id = $1 AND {sql}"
        return Call(Statement(text.replace(TENANT, "$1").encode(), b""), [str(self.tenant.id)])


@cache
def holder() -> Holder:
    return Holder()


def ids_of(rows: pipeline.Rows) -> set[UUID]:
    return {UUID((rows.value(n) or b"").decode()) for n in range(len(rows))}


def expected(rule: LocationReach, actor: Actor, held: Holder) -> set[UUID]:
    """The rule in plain Python."""
    reached = set(actor.location_ids)
    while rule.below and (more := {one for one, parent in held.parents.items() if parent in reached} - reached):
        reached |= more

    def within(row: Location) -> bool:
        values = [getattr(row, field) for field in rule.fields]
        return all(rule.null if value is None else value in reached for value in values)

    return {row.id for row in held.rows if not actor.location_ids or within(row)}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), rule=st.sampled_from(RULES))
def test_sql_queryset_and_plain_python_agree(data, rule):
    held = holder()
    chosen = data.draw(st.lists(st.sampled_from([*held.ids.values(), uuid7()]), unique=True, max_size=5))
    actor = held.limit(chosen)
    wanted = expected(rule, actor, held)

    _, found, outside = pipeline.run([held.proof, held.select(rule.sql), held.select(f"NOT ({rule.over('t').sql})")])
    with tenant_context(held.tenant.id):
        filtered = set(rule.filter(Location.objects.of(actor), actor).values_list("id", flat=True))
        held_by_rule = {
            row.id for row in held.rows if rule.holds(actor, *(getattr(row, field) for field in rule.fields))
        }

    assert ids_of(found) == filtered == held_by_rule == wanted
    assert ids_of(outside) == {row.id for row in held.rows} - wanted


@pytest.mark.parametrize("rule", RULES)
def test_platform_reaches_every_row_of_the_tenant_and_nobody_bound_none(rule):
    held = holder()
    everything = {row.id for row in held.rows}
    actor = system_actor(held.tenant.id)
    with tenant_context(held.tenant.id):
        assert ids_of(pipeline.run([held.select(rule.sql)])[0]) == everything
        assert set(rule.filter(Location.objects.of(actor), actor).values_list("id", flat=True)) == everything
        assert rule.holds(actor, uuid7(), None)
    with transaction.atomic(), connection.cursor() as cursor:
        bind_tenant(None)
        nothing = '(SELECT NULL::uuid AS "id", NULL::uuid AS "parent_id") t'
        cursor.execute(f"SELECT count(*) FROM {nothing} WHERE {rule.sql.replace(TENANT, 'NULL::uuid')}")
        assert cursor.fetchone() == (0,)


def test_membership_of_two_locations_reads_lists_searches_and_writes_only_these():
    tenant = provision(name="Default")
    ids = add_locations(tenant, {"Alpha ward": "", "Beta ward": "", "Gamma ward": "Alpha ward"})
    person, _ = member(tenant, location_ids=(ids["Alpha ward"], ids["Beta ward"]))
    api, admin = Api(token=bearer(person), tenant=tenant), as_member(tenant)
    for name in ids:  # indexed for the search by a change of the name
        assert admin.patch(f"{PATH}/{ids[name]}", json={"name": f"{name} one"}).status_code == 200

    assert names(api.get(PATH)) == names(api.get(f"{PATH}?search=ward")) == ["Alpha ward one", "Beta ward one"]
    assert names(api.get(f"{PATH}?parent_id={ids['Alpha ward']}")) == []
    first = api.get(f"{PATH}?limit=1").json()
    second = api.get(f"{PATH}?limit=1&cursor={first['next_cursor']}").json()
    assert (first["has_more"], second["has_more"]) == (True, False)
    assert [api.get(f"{PATH}/{one}").status_code for one in ids.values()] == [200, 200, 404]
    changed = [api.patch(f"{PATH}/{one}", json={"contact": {"phone": "1"}}).status_code for one in ids.values()]
    assert changed == [200, 200, 404]
    moved = api.patch(f"{PATH}/{ids['Beta ward']}", json={"parent_id": str(ids["Gamma ward"])})
    assert (moved.status_code, moved.json()["errors"][0]["code"]) == (400, "does_not_exist")
    with tenant_context(tenant.id):
        untouched = Location.objects.get(tenant_id=tenant.id, id=ids["Gamma ward"])
    assert (untouched.version, untouched.contact) == (2, None)


def test_two_memberships_of_one_person_never_mix():
    person, here, there = user(), provision(name="Default"), provision(name="Default")
    own, others = add_locations(here, {"Here": "", "Hidden": ""}), add_locations(there, {"There": "", "Far": ""})
    member(here, person=person, location_ids=(own["Here"],))
    member(there, person=person, location_ids=(others["There"], others["Far"]))
    one, two = (Api(token=bearer(person), tenant=tenant) for tenant in (here, there))
    for _ in range(5):
        assert names(one.get(PATH)) == ["Here"]
        assert names(two.get(PATH)) == ["Far", "There"]
        assert one.get(f"{PATH}/{others['There']}").status_code == 404
        assert two.patch(f"{PATH}/{own['Here']}", json={"name": "Taken"}).status_code == 404


def test_locations_of_a_membership_count_from_its_next_request():
    tenant = provision(name="Default")
    ids = add_locations(tenant, {"One": "", "Two": ""})
    person, membership = member(tenant, ["prescriber"], location_ids=(ids["One"],))
    api, admin = Api(token=bearer(person), tenant=tenant), as_member(tenant)
    assert names(api.get(PATH)) == ["One"]
    for location_ids, shown in (([ids["Two"]], ["Two"]), ([], ["Default", "One", "Two"])):
        changed = admin.patch(f"/v1/memberships/{membership.id}", json={"location_ids": location_ids})
        assert changed.status_code == 200, changed.content
        assert names(api.get(PATH)) == shown


def test_proof_binds_the_subject_and_its_locations_for_the_transaction():
    held = holder()
    chosen = sorted([held.ids["a"], held.ids["b"]])
    held.limit(chosen)
    with transaction.atomic():
        pipeline.run([held.proof])
        text = "{" + ",".join(map(str, chosen)) + "}"
        own = [str(held.tenant.id), str(held.person.id), text, OWN]
        assert bound() == own
        with tenant_context(held.tenant.id):
            assert bound() == [str(held.tenant.id), "", "{}", OWN]
            with role_context(DISPATCHER):
                assert bound() == ["", "", "", DISPATCHER]
            assert bound() == [str(held.tenant.id), "", "{}", OWN]
            with pytest.raises(ZeroDivisionError), tenant_context(uuid7()):
                raise ZeroDivisionError
            assert bound() == [str(held.tenant.id), "", "{}", OWN]
        assert bound() == own
    assert [value or "" for value in bound()] == ["", "", "", "none"]


@pytest.mark.parametrize("shown", ["key", "client"])
def test_proof_of_a_machine_binds_its_own_membership(shown):
    tenant = provision("supplier")
    (only,) = add_locations(tenant, {"One": ""}).values()
    row, _ = new_api_key(tenant)
    with tenant_context(tenant.id):
        Membership._base_manager.filter(pk=row.membership_id).update(location_ids=[only])
    account_id = Membership.objects.get(pk=row.membership_id).service_account_id
    credential = f"key:{row.pk}" if shown == "key" else "client:test"
    subject = Subject(account_id, SubjectKind.SERVICE, credential, token_id=str(uuid7()), session_id=str(uuid7()))
    with transaction.atomic():
        (proof,) = pipeline.run([membership_sql.one_tenant(subject, tenant.id, OWN)])
        assert len(proof) == 1
        assert bound() == [str(tenant.id), str(account_id), f"{{{only}}}", OWN]


def test_nothing_stays_bound_on_the_connection_after_a_request():
    tenant = provision()
    ids = add_locations(tenant, {"One": "", "Two": ""})
    person, _ = member(tenant, location_ids=(ids["One"],))
    api = Api(token=bearer(person), tenant=tenant)
    requests = [
        (api.get(PATH), 200),
        (api.get(f"{PATH}/{ids['Two']}"), 404),
        (api.patch(f"{PATH}/{ids['One']}", json={"name": "First"}), 200),
        (api.patch(f"{PATH}/{ids['Two']}", json={"name": "Second"}), 404),
        (api.post(PATH, json={"name": "Third", "type": "ward"}), 403),
        (api.get(f"{PATH}?sort=nothing"), 400),
    ]
    for answer, status in requests:
        assert answer.status_code == status
        assert [value or "" for value in bound()] == ["", "", "", "none"]


@pytest.mark.parametrize("rule", [reach("id"), reach("id", null=True), reach("id", below=True)])
def test_list_within_a_limited_reach_walks_the_index_of_its_order_and_reads_the_binding_once(rule):
    held = Holder()
    held.limit([held.ids["a"]])
    query = replace(read_query(LocationViewSet.listing, QueryDict("")), extra=(rule,))
    call = cursor_call(query, held.tenant.id, after=None, limit=50)
    with tenant_context(held.tenant.id):
        Location.objects.bulk_create(
            [Location(tenant_id=held.tenant.id, name=f"Place {n}", type="ward") for n in range(3000)]
        )
    with transaction.atomic(), connection.cursor() as cursor:
        pipeline.run([held.proof])
        cursor.execute("SET LOCAL enable_sort = off")  # a fresh table has no statistics
        cursor.execute(b"PREPARE within_reach AS " + call.statement.sql)
        marks = ", ".join(["%s"] * len(call.parameters))
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS off, TIMING off) EXECUTE within_reach ({marks})", call.parameters)
        lines = [row[0] for row in cursor.fetchall()]
        cursor.execute("DEALLOCATE within_reach")
    plan = "\n".join(lines)
    assert "Index Scan Backward using org_location_created" in plan, plan
    assert "Seq Scan on organizations_location " not in plan, plan
    once = [after for line, after in pairwise(lines) if line.strip().startswith(("InitPlan", "SubPlan"))]
    assert len(once) >= 3, plan
    assert all("loops=1)" in line for line in once), plan
