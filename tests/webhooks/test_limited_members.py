"""Members and keys that are limited to places: they neither read events nor have them sent (decision 144)."""

from typing import Any

import pytest

from core.db import tenant_context
from organizations.models import Location, Membership
from organizations.public import LocationForbidden
from tests import factories
from tests.factories import Api
from webhooks.models import Delivery, Endpoint, Replay
from webhooks.parts import TenantWideViewSet
from webhooks.urls import router

HOOK = {"url": "https://hooks.example.com/platform", "events": ["stock.*"]}
_NOBODY = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
# By the last part of the address below an endpoint: the method and a body.
REFUSED = {
    "": ("patch", {"active": False}),
    "/": ("delete", None),
    "/test": ("post", {"type": "product.created"}),
    "/rotate-secret": ("post", {}),
    "/replay": ("post", {"since": "2026-01-01T00:00:00Z", "only": "all"}),
    "/deliveries": ("get", None),
    f"/deliveries/{_NOBODY}": ("get", None),
    f"/deliveries/{_NOBODY}/redeliver": ("post", None),
    f"/replays/{_NOBODY}/cancel": ("post", None),
    f"/secrets/{_NOBODY}": ("delete", None),
}


def person(world: Any, place: Any) -> Api:
    found, _ = factories.member(world.tenant, ["supplier_admin"], location_ids=[place])
    return Api(token=factories.bearer(found), tenant=world.tenant)


def machine(world: Any, place: Any) -> Api:
    row, key = factories.new_api_key(world.tenant, ["supplier_admin"])
    Membership._base_manager.filter(pk=row.membership_id).update(location_ids=[place])
    return Api(key=key, tenant=world.tenant)


@pytest.fixture(params=[person, machine])
def limited(request: Any, world: Any) -> Api:
    with tenant_context(world.tenant.id):
        place = Location.objects.create(tenant_id=world.tenant.id, name="Hall 1", type="warehouse").id
    api: Api = request.param(world, place)
    return api


def is_refused(answer: Any) -> bool:
    return (answer.status_code, answer.json()["code"]) == (403, "location_forbidden")


def test_limited_members_neither_read_nor_subscribe_to_events(world: Any, limited: Api) -> None:
    world.record()

    assert is_refused(limited.get("/v1/events"))
    assert is_refused(limited.post("/v1/webhooks", json=HOOK))
    assert world.rows(Endpoint) == []


@pytest.mark.parametrize("part", REFUSED)
def test_limited_members_change_and_send_nothing(world: Any, limited: Api, receiver: Any, part: str) -> None:
    endpoint = world.endpoint(receiver.url)
    before = [(one.pk, one.version) for one in world.rows(Endpoint)]
    method, body = REFUSED[part]

    answer = getattr(limited, method)(
        f"/v1/webhooks/{endpoint['id']}{part.rstrip('/')}", **({} if body is None else {"json": body})
    )

    assert is_refused(answer), answer.content
    assert [(one.pk, one.version) for one in world.rows(Endpoint)] == before
    assert (world.rows(Replay), world.rows(Delivery), receiver.received) == ([], [], [])


def test_limited_members_read_what_tells_nothing_of_events(world: Any, limited: Api, receiver: Any) -> None:
    path = f"/v1/webhooks/{world.endpoint(receiver.url)['id']}"

    for one in (
        "/v1/webhooks",
        "/v1/webhooks/event-types",
        "/v1/webhooks/meta",
        path,
        f"{path}/stats",
        f"{path}/replays",
    ):
        assert limited.get(one).status_code == 200, one


def test_every_operation_that_is_not_for_them_says_so() -> None:
    views = [view for _, view, _ in router.registry]

    assert all(issubclass(view, TenantWideViewSet) for view in views)
    for view in views:
        for name, operation in view.operations.items():
            assert (LocationForbidden in operation.errors) is (name not in view.for_limited), (view, name)
