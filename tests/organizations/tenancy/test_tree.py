"""The tree of organizations over HTTP: reach, create, move, suspend, close."""

from functools import partial

import pytest

from core.db import tenant_context
from ledger.public import Event
from organizations.models import Organization
from tests.factories import Api, as_member, bearer, member, organization, provision, suffix
from tests.races import race


@pytest.fixture
def top():
    return organization("Top")


@pytest.fixture
def tenant(top):
    return provision("provider", under=top)


@pytest.fixture
def admin(tenant):
    return as_member(tenant, ["org_admin"])


def chain(parent, length):
    for _ in range(length):
        parent = organization("Link", parent=parent)
    return parent


def ids(response):
    assert response.status_code == 200, response.content
    return {row["id"] for row in response.json()["data"]}


def events(tenant, kind):
    with tenant_context(tenant.id):
        return list(Event.objects.filter(tenant_id=tenant.id, type=kind).order_by("occurred_at"))


def test_list_shows_an_org_admin_the_whole_subtree(top, admin):
    below = organization("Below", parent=top)
    deeper = organization("Deeper", parent=below)
    organization("Stranger")

    assert ids(admin.get("/v1/organizations")) == {str(top.id), str(below.id), str(deeper.id)}


def test_list_shows_a_tenant_admin_the_own_organization_only(top, tenant):
    organization("Below", parent=top)

    assert ids(as_member(tenant).get("/v1/organizations")) == {str(top.id)}


def test_list_without_tenant_header_adds_up_all_memberships(tenant):
    other = provision("supplier")
    person, _ = member(tenant, ["tenant_admin"])
    member(other, ["tenant_admin"], person=person)

    found = ids(Api(token=bearer(person)).get("/v1/organizations"))

    assert found == {str(tenant.organization_id), str(other.organization_id)}


def test_membership_without_the_scope_adds_nothing_to_the_reach(tenant):
    other = provision("provider")
    person, _ = member(tenant, ["tenant_admin"])
    member(other, ["nurse"], person=person)

    assert ids(Api(token=bearer(person)).get("/v1/organizations")) == {str(tenant.organization_id)}


def test_get_of_a_foreign_organization_looks_like_no_organization(admin):
    foreign = organization("Foreign")

    seen, unknown = (
        admin.get(f"/v1/organizations/{key}") for key in (foreign.id, "01a1fca7-e896-756b-8348-949447efeade")
    )

    assert (seen.status_code, unknown.status_code) == (404, 404)
    assert seen.json()["detail"] == unknown.json()["detail"]


def test_get_answers_children_count_and_etag(top, admin):
    organization("Below", parent=top)

    response = admin.get(f"/v1/organizations/{top.id}")

    assert response.json()["data"]["children_count"] == 1
    assert response.headers["ETag"] == '"1"'


def test_children_go_as_deep_as_asked(top, admin):
    one = organization("One", parent=top)
    two = organization("Two", parent=one)
    three = organization("Three", parent=two)

    direct = admin.get(f"/v1/organizations/{top.id}/children")
    deep = admin.get(f"/v1/organizations/{top.id}/children?depth=3")

    assert ids(direct) == {str(one.id)}
    assert ids(deep) == {str(one.id), str(two.id), str(three.id)}


@pytest.mark.parametrize("depth", ["0", "9", "-1", "x", "1.5"])
def test_children_refuse_a_wrong_depth(top, admin, depth):
    response = admin.get(f"/v1/organizations/{top.id}/children?depth={depth}")

    assert response.status_code == 400
    assert response.json()["errors"][0]["field"] == "depth"


def test_children_page_by_cursor(top, admin):
    wanted = {str(organization(f"Child {n}", parent=top).id) for n in range(5)}
    seen, path = [], f"/v1/organizations/{top.id}/children?limit=2"

    while path:
        body = admin.get(path).json()
        seen += [row["id"] for row in body["data"]]
        path = f"/v1/organizations/{top.id}/children?limit=2&cursor={body['next_cursor']}" if body["has_more"] else ""

    assert len(seen) == 5
    assert set(seen) == wanted


def test_tenants_of_an_organization_are_those_within_reach(top, tenant, admin):
    second = provision("pharmacy", under=top)

    assert ids(admin.get(f"/v1/organizations/{top.id}/tenants")) == {str(tenant.id), str(second.id)}
    assert ids(as_member(tenant).get(f"/v1/organizations/{top.id}/tenants")) == {str(tenant.id)}


def test_create_stands_below_the_own_organization_and_is_recorded(top, tenant, admin):
    response = admin.post(
        "/v1/organizations", json={"name": "North Clinic", "type": "clinic", "metadata": {"beds": 12}}
    )

    assert response.status_code == 201, response.content
    made = response.json()["data"]
    assert (made["parent_id"], made["type"], made["status"], made["metadata"]) == (
        str(top.id),
        "clinic",
        "active",
        {"beds": 12},
    )
    assert response.headers["Location"] == f"/v1/organizations/{made['id']}"
    assert [str(event.resource_id) for event in events(tenant, "organization.created")][-1] == made["id"]


def test_create_below_a_foreign_parent_is_refused(admin):
    foreign = organization("Foreign")

    response = admin.post("/v1/organizations", json={"name": "Cuckoo", "parent_id": str(foreign.id)})

    assert (response.status_code, response.json()["code"]) == (422, "unknown_parent")
    assert not foreign.children.exists()


def test_create_on_a_ninth_level_is_refused(top, admin):
    eighth = chain(top, 7)

    response = admin.post("/v1/organizations", json={"name": "Too deep", "parent_id": str(eighth.id)})

    assert (response.status_code, response.json()["code"]) == (409, "organization_too_deep")
    assert not eighth.children.exists()


def test_create_needs_the_scope(tenant):
    response = as_member(tenant).post("/v1/organizations", json={"name": "No"})

    assert (response.status_code, response.json()["code"]) == (403, "insufficient_scope")


def test_slug_that_is_taken_is_a_duplicate(top, admin):
    response = admin.post("/v1/organizations", json={"name": "Twin", "slug": top.slug})

    assert (response.status_code, response.json()["code"]) == (409, "duplicate")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "x", "type": "castle"}, "type"),
        ({"name": "x", "slug": "Not a slug"}, "slug"),
        ({"name": "x", "metadata": {"long": "y" * 9000}}, "metadata"),
        ({"name": "x", "status": "closed"}, "status"),
        ({"name": "x", "address": {"planet": "Mars"}}, "address.planet"),
    ],
)
def test_body_that_is_not_of_its_form_names_the_field(admin, body, field):
    response = admin.post("/v1/organizations", json=body)

    assert response.status_code == 400
    assert [fault["field"] for fault in response.json()["errors"]] == [field]


def test_move_takes_everything_below_along(top, tenant, admin):
    left, right = organization("Left", parent=top), organization("Right", parent=top)
    leaf = organization("Leaf", parent=left)

    response = admin.patch(f"/v1/organizations/{left.id}", json={"parent_id": str(right.id)})

    assert response.status_code == 200, response.content
    assert ids(admin.get(f"/v1/organizations/{right.id}/children?depth=2")) == {str(left.id), str(leaf.id)}
    assert events(tenant, "organization.moved")[-1].data == {
        "from_parent_id": str(top.id),
        "to_parent_id": str(right.id),
    }


def test_move_below_itself_is_refused(top, admin):
    upper = organization("Upper", parent=top)
    lower = organization("Lower", parent=upper)

    response = admin.patch(f"/v1/organizations/{upper.id}", json={"parent_id": str(lower.id)})

    assert (response.status_code, response.json()["code"]) == (409, "organization_cycle")
    assert Organization.objects.get(pk=upper.pk).parent_id == top.id


def test_move_that_makes_the_tree_too_deep_is_refused(top, admin):
    deep = chain(top, 6)
    tall = organization("Tall", parent=top)
    organization("Below tall", parent=tall)

    response = admin.patch(f"/v1/organizations/{tall.id}", json={"parent_id": str(deep.id)})

    assert (response.status_code, response.json()["code"]) == (409, "organization_too_deep")
    assert Organization.objects.get(pk=tall.pk).parent_id == top.id


def test_move_out_of_reach_is_refused(top, admin):
    leaf, foreign = organization("Leaf", parent=top), organization("Foreign")

    below_foreign = admin.patch(f"/v1/organizations/{leaf.id}", json={"parent_id": str(foreign.id)})
    to_root = admin.patch(f"/v1/organizations/{leaf.id}", json={"parent_id": None})

    assert (below_foreign.status_code, below_foreign.json()["code"]) == (422, "unknown_parent")
    assert (to_root.status_code, to_root.json()["code"]) == (403, "outside_subtree")
    assert Organization.objects.get(pk=leaf.pk).parent_id == top.id


def test_two_moves_at_once_never_make_a_circle(top, tenant):
    for _ in range(5):
        a, b = organization("A", parent=top), organization("B", parent=top)
        one, two = as_member(tenant, ["org_admin"]), as_member(tenant, ["org_admin"])

        answers = race(
            partial(one.patch, f"/v1/organizations/{a.id}", json={"parent_id": str(b.id)}),
            partial(two.patch, f"/v1/organizations/{b.id}", json={"parent_id": str(a.id)}),
        )

        assert sorted(answer.status_code for answer in answers) == [200, 409]
        parents = {row.pk: row.parent_id for row in Organization.objects.filter(pk__in=[a.pk, b.pk])}
        assert sorted([parents[a.pk] == b.pk, parents[b.pk] == a.pk]) == [False, True]


def test_moves_between_two_trees_at_once_never_make_a_circle():
    first, second = organization("First"), organization("Second")
    root = organization("Root")
    Organization.objects.filter(pk__in=[first.pk, second.pk]).update(parent=root)
    tenant = provision("provider", under=root)
    a, b = organization("A", parent=first), organization("B", parent=second)
    one, two = as_member(tenant, ["org_admin"]), as_member(tenant, ["org_admin"])

    answers = race(
        lambda: one.patch(f"/v1/organizations/{first.id}", json={"parent_id": str(b.id)}).status_code,
        lambda: two.patch(f"/v1/organizations/{second.id}", json={"parent_id": str(a.id)}).status_code,
    )

    assert sorted(answers) == [200, 409]


def test_suspend_and_resume(top, tenant, admin):
    leaf = organization("Leaf", parent=top)

    suspended = admin.patch(f"/v1/organizations/{leaf.id}", json={"status": "suspended"})
    resumed = admin.patch(f"/v1/organizations/{leaf.id}", json={"status": "active"})

    assert [answer.json()["data"]["status"] for answer in (suspended, resumed)] == ["suspended", "active"]
    assert events(tenant, "organization.suspended")
    assert events(tenant, "organization.resumed")


def test_close_waits_for_what_is_below(top, admin):
    upper = organization("Upper", parent=top)
    lower = organization("Lower", parent=upper)

    refused = admin.patch(f"/v1/organizations/{upper.id}", json={"status": "closed"})
    admin.patch(f"/v1/organizations/{lower.id}", json={"status": "closed"})
    closed = admin.patch(f"/v1/organizations/{upper.id}", json={"status": "closed"})
    again = admin.patch(f"/v1/organizations/{upper.id}", json={"status": "active"})

    assert (refused.status_code, refused.json()["code"]) == (409, "organization_in_use")
    assert closed.json()["data"]["status"] == "closed"
    assert (again.status_code, again.json()["code"], again.json()["from"]) == (409, "invalid_transition", "closed")


def test_change_of_an_old_version_is_refused(top, admin):
    leaf = organization("Leaf", parent=top)
    admin.patch(f"/v1/organizations/{leaf.id}", json={"name": "Newer"})

    response = admin.patch(f"/v1/organizations/{leaf.id}", json={"name": "Older"}, headers={"If-Match": '"1"'})

    assert (response.status_code, response.json()["code"], response.json()["current_version"]) == (
        409,
        "version_conflict",
        2,
    )
    assert Organization.objects.get(pk=leaf.pk).name == "Newer"


def test_change_of_nothing_makes_no_version(top, tenant, admin):
    leaf = organization("Leaf", parent=top)

    response = admin.patch(f"/v1/organizations/{leaf.id}", json={"name": "Leaf"})

    assert response.json()["data"]["version"] == 1
    assert not [event for event in events(tenant, "organization.updated") if event.resource_id == leaf.id]


def test_search_and_filters_narrow_the_list(top, admin):
    wanted = organization(f"Needle {suffix()}", parent=top)
    organization("Hay", parent=top)

    assert ids(admin.get(f"/v1/organizations?search={wanted.name[:10].upper()}")) == {str(wanted.id)}
    assert ids(admin.get(f"/v1/organizations?slug={wanted.slug}&status=active&type=group")) == {str(wanted.id)}
    assert admin.get("/v1/organizations?colour=red").json()["code"] == "unknown_parameter"
