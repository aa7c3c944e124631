"""Members of a representation from the table beside its own: at most one row, whose absence stands for its defaults."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from api.representations import Representation
from core.db import tenant_context
from tests.webhooks.worlds import new_world
from webhooks.models import Endpoint, EndpointHealth

HEALTH = ("failing_since", "consecutive_failures", "circuit_state", "circuit_until", "paused_until")


@pytest.fixture
def world():
    return new_world()


@pytest.fixture
def endpoint(world):
    return world.endpoint("https://hooks.example.com/")


def read(world, endpoint):
    answer = world.api.get(f"/v1/webhooks/{endpoint['id']}")
    return tuple(answer.json()["data"][name] for name in HEALTH), answer["ETag"]


def test_missing_row_stands_for_the_defaults_of_its_columns(world, endpoint):
    assert read(world, endpoint) == ((None, 0, "closed", None, None), '"1"')


def test_row_of_defaults_reads_as_no_row_does(world, endpoint):
    before = read(world, endpoint)
    with tenant_context(world.tenant.id):
        EndpointHealth.objects.create(endpoint_id=endpoint["id"], tenant_id=world.tenant.id)
    assert read(world, endpoint) == before


def test_each_value_is_shown_and_has_a_tag_of_its_own(world, endpoint):
    at = endpoint["created_at"]
    changes = [
        {"consecutive_failures": 3},
        {"circuit_state": "open"},
        {"failing_since": at},
        {"circuit_until": at},
        {"paused_until": at},
    ]
    tags = set()
    for change in changes:
        with tenant_context(world.tenant.id):
            EndpointHealth._base_manager.filter(endpoint_id=endpoint["id"]).delete()
            EndpointHealth.objects.create(endpoint_id=endpoint["id"], tenant_id=world.tenant.id, **change)
        shown, tag = read(world, endpoint)
        assert dict(zip(HEALTH, shown, strict=True)).items() >= change.items()
        tags.add(tag)
    assert len(tags) == len(changes)
    assert all(tag.startswith('"1;') for tag in tags)


def test_row_of_another_tenant_is_not_shown(world, endpoint):
    other = new_world()
    with tenant_context(other.tenant.id):
        EndpointHealth.objects.create(endpoint_id=endpoint["id"], tenant_id=other.tenant.id, consecutive_failures=3)
    assert read(world, endpoint) == ((None, 0, "closed", None, None), '"1"')


def test_name_that_neither_table_has_is_refused_at_import():
    with pytest.raises(ImproperlyConfigured, match=r"StrayOut.*mood"):

        class StrayOut(Representation):
            class Meta:
                model = Endpoint
                beside = (EndpointHealth, "endpoint_id")
                fields = ("id", "mood")
