"""The walk of grants: whatever (role, location, validity) the interface can write, nothing goes beyond who wrote it.

What a membership gives is a set of (scope, location, instant). After every write, what the row gives beyond what it gave
before must lie within what its writer holds. The writers hold each role of the platform, everywhere or in one location, for
good or for an hour; the rows are read from the database, not from the answers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import product
from typing import Any
from uuid import UUID

import pytest

from core.clock import now, rfc3339
from organizations.models import ApiKey, Membership, ServiceAccount
from organizations.roles import FREE_FOR_MACHINES, NEVER_BY_MACHINES, PLATFORM_ROLES
from tests import factories
from tests.contract import document
from tests.factories import Api, bearer, member, suffix

pytestmark = pytest.mark.untraced

ROLES = tuple(PLATFORM_ROLES)
PLACES = ("all", "first", "second", "both")
ENDS = ("never", "earlier", "same", "later")
HOUR = timedelta(hours=1)
NOTHING: tuple[frozenset[str], frozenset[str], float] = (frozenset(), frozenset(), 0.0)
# Members of a body that decide what somebody may do, and the operations that take them to that end.
DECIDES = {"roles", "scopes", "location_ids", "valid_from", "valid_until", "admin_email", "replaces"}
WRITERS = {
    ("POST", "/v1/memberships"),
    ("PATCH", "/v1/memberships/{id}"),
    ("POST", "/v1/api-keys"),
    ("POST", "/v1/suppliers/me/api-keys"),  # the same action by another address
    ("POST", "/v1/tenants"),
}
# Here `valid_until` is that of a prescription.
UNRELATED = {
    ("POST", "/v1/prescriptions"), ("PUT", "/v1/prescriptions/{id}"), ("POST", "/v1/marketplace/offers"),
    ("PUT", "/v1/marketplace/offers/{id}"), ("PUT", "/v1/price-lists/{code}"), ("PUT", "/v1/pricing-rules/{code}"),
    ("PUT", "/v1/procurement/budgets/{code}"),
    ("POST", "/v1/procurement/returns/{id}/authorize"),
    ("POST", "/v1/price-agreements"), ("PATCH", "/v1/price-agreements/{id}"),
}  # fmt: skip


@dataclass
class Ground:
    """A tenant with two locations, and the instants of the walk."""

    tenant: Any
    first: UUID
    second: UUID
    at: datetime
    tried: int = 0
    granted: int = 0
    unlike: list[str] = field(default_factory=list)
    changed: list[Membership] = field(default_factory=list)

    def places(self, name: str) -> list[UUID]:
        return {"all": [], "first": [self.first], "second": [self.second], "both": [self.first, self.second]}[name]

    def end(self, name: str) -> datetime | None:
        shift = {"earlier": -HOUR / 2, "same": timedelta(0), "later": HOUR}
        return None if name == "never" else self.at + HOUR + shift[name]


def given(row: Membership | None, scopes: set[str] | None = None, ends: datetime | None = None) -> Any:
    """What a membership gives: scopes, locations ("*" for those that no list names) and the end, as numbers compare."""
    if row is None or row.status in ("revoked", "expired", "suspended"):
        return NOTHING
    held = {scope for role in row.roles for scope in PLATFORM_ROLES[role]}
    if row.service_account_id is not None:
        held -= NEVER_BY_MACHINES
    places = frozenset(map(str, row.location_ids)) or frozenset(("first", "second", "*"))
    until = min((end.timestamp() for end in (row.valid_until, ends) if end is not None), default=float("inf"))
    return frozenset(held if scopes is None else held & scopes), places, until


def added(before: Any, after: Any) -> Iterator[Any]:
    """What is given after and not before, as up to three blocks."""
    if after[0] - before[0]:
        yield after[0] - before[0], after[1], after[2]
    if after[1] - before[1]:
        yield after[0], after[1] - before[1], after[2]
    if after[2] > before[2]:
        yield after[0], after[1], after[2]


def beyond(before: Any, after: Any, own: Any, *, free: frozenset[str] = frozenset(), keeps: bool = False) -> list[str]:
    """In which ways a write goes beyond its writer; `keeps` leaves the scopes out that the row held before."""
    found = []
    for scopes, places, until in added(before, after):
        wrong = scopes - own[0] - free - (before[0] if keeps else frozenset())
        found += ["scopes"] * bool(wrong) + ["locations"] * bool(places - own[1]) + ["validity"] * (until > own[2])
    return found


@pytest.fixture(scope="module")
def ground() -> Ground:
    tenant = factories.provision("provider", plan="enterprise")
    api = factories.as_member(tenant)
    made = [api.post("/v1/locations", json={"name": f"Ward {n}", "type": "ward"}).json() for n in range(2)]
    return Ground(tenant, *(UUID(one["data"]["id"]) for one in made), at=now())


@pytest.fixture(autouse=True)
def unhurried(settings, ground):
    """Lift the limits: a walk is one writer's work of hours."""
    settings.RATE_LIMITS_ENABLED = False
    ground.unlike.clear()
    from core.db import tenant_context
    from organizations.models import Quota

    with tenant_context(ground.tenant.id):
        Quota.objects.filter(tenant_id=ground.tenant.id).update(limit=None)


def writer(ground: Ground, roles: tuple[str, ...], places: str, end: str) -> tuple[Api, Any]:
    """Make a member; return its client and what it holds."""
    terms = {"location_ids": tuple(ground.places(places)), "valid_until": ground.end(end)}
    person, row = member(ground.tenant, roles, **terms)
    return Api(token=bearer(person), tenant=ground.tenant), named(ground, given(row))


def named(ground: Ground, gift: Any) -> Any:
    """Name the two locations, so that lists of them compare with "all"."""
    names = {str(ground.first): "first", str(ground.second): "second"}
    return gift[0], frozenset(names.get(one, one) for one in gift[1]), gift[2]


def body_of(ground: Ground, role: str, places: str, end: str) -> dict[str, Any]:
    until = ground.end(end)
    return {"roles": [role], "location_ids": ground.places(places), "valid_until": rfc3339(until) if until else None}


def note(ground: Ground, what: str, answer: Any, before: Any, after: Any, own: Any, **rules: Any) -> None:
    """Count a write, and keep what is wrong with it."""
    ground.tried += 1
    if answer.status_code in (200, 201):
        ground.granted += 1
        wrong = beyond(named(ground, before), named(ground, after), own, **rules)
        ground.unlike += [f"{what}: {wrong}"] if wrong else []
    elif answer.status_code != 403 and (answer.status_code, answer.json()["code"]) != (422, "user_only_scope"):
        ground.unlike.append(f"{what}: {answer.status_code} {answer.content[:300]!r}")


def invite(ground: Ground, api: Api, own: Any, *terms: str) -> None:
    email = f"w-{suffix()}@example.org"
    answer = api.post("/v1/memberships", json={"email": email, **body_of(ground, *terms)})
    row = Membership.objects.filter(tenant_id=ground.tenant.id, user__email=email).first()
    note(ground, f"invite {terms}", answer, NOTHING, given(row), own)


def add_service(ground: Ground, api: Api, own: Any, *terms: str) -> None:
    account = ServiceAccount.objects.create(name="Robot", partner="robots", tenant=ground.tenant)
    body = {"service_account_id": str(account.id), **body_of(ground, *terms)}
    answer = api.post("/v1/memberships", json=body)
    row = Membership.objects.filter(tenant_id=ground.tenant.id, service_account=account).first()
    note(ground, f"add {terms}", answer, NOTHING, given(row), own, free=FREE_FOR_MACHINES)
    assert row is None or not NEVER_BY_MACHINES & {one for role in row.roles for one in PLATFORM_ROLES[role]}


def standing(ground: Ground, terms: tuple[str, ...], status: str = "active") -> Membership:
    """Give the one member whom the walk changes these terms, whatever was made of it before."""
    if not ground.changed:
        ground.changed = [member(ground.tenant, ("nurse",))[1]]
    role, places, end = terms
    rows = Membership._base_manager.filter(pk=ground.changed[0].pk)
    rows.update(roles=[role], location_ids=ground.places(places), valid_until=ground.end(end), status=status)
    return rows.get()


def change(ground: Ground, api: Api, own: Any, *terms: str, start: tuple[str, str, str]) -> None:
    row = standing(ground, start)
    before = given(row)
    answer = api.patch(f"/v1/memberships/{row.id}", json=body_of(ground, *terms))
    after = given(Membership.objects.get(pk=row.pk))
    note(ground, f"change {start} {terms}", answer, before, after, own, keeps=True)


def resume(ground: Ground, api: Api, own: Any, *terms: str) -> None:
    held = given(standing(ground, terms))[0]
    row = standing(ground, terms, status="suspended")
    answer = api.patch(f"/v1/memberships/{row.id}", json={"status": "active"})
    after = given(Membership.objects.get(pk=row.pk))
    note(ground, f"resume {terms}", answer, NOTHING, after, own, free=held)


def of_key(row: ApiKey | None) -> Any:
    if row is None:
        return NOTHING
    return given(Membership.objects.get(pk=row.membership_id), set(row.scopes), row.expires_at)


def create_key(ground: Ground, api: Api, own: Any, *terms: str) -> None:
    role, _, end = terms
    until, partner = ground.end(end), f"p-{suffix()}"
    body = {"name": "K", "partner": partner, "roles": [role]} | ({"expires_at": rfc3339(until)} if until else {})
    answer = api.post("/v1/api-keys", json=body)
    row = ApiKey.objects.filter(tenant_id=ground.tenant.id, partner=partner).first()
    note(ground, f"key {terms}", answer, NOTHING, of_key(row), own, free=FREE_FOR_MACHINES)
    assert row is None or not NEVER_BY_MACHINES & set(row.scopes)


def rotate(ground: Ground, api: Api, own: Any, *terms: str) -> None:
    role, places, end = terms
    scopes = sorted(set(PLATFORM_ROLES[role]) - NEVER_BY_MACHINES)
    if not scopes:
        return
    old, _ = factories.new_api_key(ground.tenant, [role], scopes=scopes)
    Membership._base_manager.filter(pk=old.membership_id).update(location_ids=ground.places(places))
    until = ground.end(end)
    answer = api.post(
        "/v1/api-keys", json={"replaces": str(old.id)} | ({"expires_at": rfc3339(until)} if until else {})
    )
    row = ApiKey.objects.filter(rotated_from=old).first()
    note(ground, f"rotate {terms}", answer, NOTHING, of_key(row), own, free=FREE_FOR_MACHINES)


COMBINATIONS = tuple(product(ROLES, PLACES, ENDS))
LIMITED = tuple(product(("all", "first"), ("never", "same")))
CHANGES = tuple(
    product(
        product(("tenant_admin", "nurse"), PLACES, ("never", "earlier")),
        product(("tenant_admin", "nurse"), PLACES, ENDS),
    )
)
CHANNELS: tuple[Callable[..., None], ...] = (invite, add_service, resume, create_key, rotate)


@pytest.fixture
def thinned(request) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Take all of a walk with `--long`, else each seventh step: that still meets each role, location and end."""
    return lambda steps: steps if request.config.getoption("--long") else steps[::7]


def outcome(ground: Ground, begun: int) -> None:
    assert ground.unlike == []
    assert ground.tried > begun


@pytest.mark.parametrize(("places", "end"), LIMITED)
@pytest.mark.parametrize("channel", CHANNELS, ids=lambda one: one.__name__)
def test_administrator_grants_no_combination_beyond_his_own(ground, channel, places, end, thinned):
    api, own = writer(ground, ("tenant_admin",), places, end)
    begun, granted = ground.tried, ground.granted

    for terms in (*thinned(COMBINATIONS), ("tenant_admin", "first", "earlier")):
        channel(ground, api, own, *terms)

    outcome(ground, begun)
    assert ground.granted > granted, "a walk in which nothing is granted shows nothing"


@pytest.mark.parametrize(("places", "end"), LIMITED)
def test_administrator_changes_no_membership_beyond_his_own(ground, places, end, thinned):
    api, own = writer(ground, ("tenant_admin",), places, end)
    begun, granted = ground.tried, ground.granted

    within = ("tenant_admin", "first", "earlier")
    for start, terms in (*thinned(CHANGES), (within, within)):
        change(ground, api, own, *terms, start=start)

    outcome(ground, begun)
    assert ground.granted > granted


@pytest.mark.parametrize("role", ROLES)
def test_every_role_beside_the_administrators_grants_what_it_holds(ground, role, thinned):
    api, own = writer(ground, ("tenant_admin", role), "first", "same")
    begun, granted = ground.tried, ground.granted

    steps = tuple(product(ROLES, (("first", "same"), ("all", "never")), (invite, add_service, create_key, rotate)))
    for wanted, (places, end), channel in {*thinned(steps), (role, ("first", "same"), invite)}:
        channel(ground, api, own, wanted, places, end)

    outcome(ground, begun)
    assert ground.granted > granted


@pytest.mark.parametrize("role", [role for role in ROLES if "memberships.write" not in PLATFORM_ROLES[role]])
def test_role_without_the_scope_grants_nothing(ground, role):
    api, own = writer(ground, (role,), "all", "never")
    granted = ground.granted

    for channel in CHANNELS:
        channel(ground, api, own, role, "first", "earlier")
    change(ground, api, own, role, "all", "never", start=(role, "first", "earlier"))

    assert ground.unlike == []
    assert ground.granted == granted


@pytest.mark.parametrize(
    ("role", "places", "end"),
    [*((role, "all", "never") for role in ROLES), *(("org_admin", *one) for one in LIMITED[1:])],
)
def test_first_administrator_of_a_tenant_is_named_by_who_may_provision_without_limit(ground, role, places, end):
    api, own = writer(ground, (role,), places, end)
    slug, email = f"walk-{suffix()}", f"w-{suffix()}@example.org"

    answer = api.post("/v1/tenants", json={"name": "W", "slug": slug, "kinds": ["provider"], "admin_email": email})

    named_one = Membership.objects.filter(user__email=email).exists()
    assert named_one is (answer.status_code == 201)
    assert named_one is ("tenants.provision" in own[0] and (places, end) == ("all", "never"))


def test_walk_knows_every_operation_that_grants():
    found = set()
    for described in document.operations():
        if described.method.upper() in ("POST", "PUT", "PATCH") and described.path.startswith("/v1/"):
            bodies = described.content.get("requestBody", {}).get("content", {}).values()
            names = {name for one in bodies for name in members_of(one.get("schema", {}))}
            if names & DECIDES:
                found.add((described.method.upper(), described.path))
    assert found - UNRELATED == WRITERS


def members_of(schema: dict[str, Any]) -> set[str]:
    """The names of a body's members, as far as it is an object."""
    schema = document.resolve(schema)
    parts = [part for word in ("allOf", "anyOf", "oneOf") for part in schema.get(word, ())]
    return set(schema.get("properties", {})).union(*map(members_of, parts))


def test_judgement_of_the_walk_notices_each_kind_of_excess():
    """Proof of power: each of these rows goes beyond its writer in one way."""
    own = (frozenset("ab"), frozenset(["first"]), 10.0)
    assert set(beyond(NOTHING, (frozenset("c"), frozenset(["first"]), 9.0), own)) == {"scopes"}
    assert set(beyond(NOTHING, (frozenset("a"), frozenset(["first", "*"]), 9.0), own)) == {"locations"}
    assert set(beyond(NOTHING, (frozenset("a"), frozenset(["first"]), 11.0), own)) == {"validity"}
    assert beyond(NOTHING, own, own) == []
