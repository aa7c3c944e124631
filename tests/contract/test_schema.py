"""Group 5: schemathesis asks every operation of the OpenAPI document; no 500, no undocumented status, no answer off its schema."""

from itertools import cycle

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks
from schemathesis.specs.openapi import checks as openapi_checks

from config.wsgi import application
from tests.security import worlds

pytestmark = pytest.mark.untraced

CHECKS = [
    checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
]
NEEDED = ("memberships", "tenants")
OPERATIONS = [str(operation) for operation in worlds.operations()]


@pytest.fixture(scope="module")
def schema():
    return schemathesis.openapi.from_wsgi("/v1/openapi.json", application)


@pytest.fixture(scope="module")
def world():
    return worlds.make()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operation_keeps_to_its_schema(operation, schema, world, long):
    method, path = operation.split(" ", 1)
    target = schema[path][method]
    headers = {"Authorization": f"Bearer {world.token}", "X-Tenant-Id": str(world.tenant.id)}
    turns = cycle((False, True))
    described = next(one for one in worlds.operations() if str(one) == operation)

    def held(received):
        """Ids of what there is; its own membership and tenant the world still needs."""
        names, kinds = world.names(described, received=received), described.kinds
        return {name: one for name, one in names.items() if kinds[name] in world.ids and kinds[name] not in NEEDED}

    headers["Accept-Encoding"] = "identity"  # schemathesis announces codings that it does not decode in process

    @settings(
        max_examples=100 if long else 8,
        deadline=None,
        derandomize=not long,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=target.as_strategy())
    def check(case):
        fixed = {
            name: value
            for name, value in (case.headers or {}).items()
            if name not in ("X-Tenant-Id", "X-Membership-Id")
        }
        case.headers = fixed
        # The schema describes whole answers, and `fields` leaves members out.
        (case.query or {}).pop("fields", None)
        case.path_parameters |= {name: one for name, one in held(next(turns)).items() if name in case.path_parameters}
        case.call_and_validate(headers=headers, checks=CHECKS)

    check()
