"""Every operation of the document, asked by a member of every role: it passes with the scope, and with none but it."""

from collections.abc import Iterator
from unittest import mock

import pytest

from api import permissions
from organizations.roles import PLATFORM_ROLES
from tests import factories
from tests.architecture import declared
from tests.security import worlds
from tests.security.worlds import Operation, World, operations

pytestmark = pytest.mark.untraced

# An auditor reads prescriptions where a policy of the tenant says so. Source: contract, access.md.
BY_POLICY = ("auditor", "/v1/prescriptions", "prescriptions.read")
SIDES = ("buyer", "supplier")
NOTHING = "01890a5d-ac96-774b-bcce-b302099a8057"
LACKING = (403, "insufficient_scope")


DECLARED = declared.operations()
GUARDED = [one for one in operations() if not one.public and DECLARED[one.method, one.path].tenant != "none"]


def scopes(operation: Operation, side: str) -> set[str]:
    """The scopes of which one is needed on a side; none where any member passes."""
    one = DECLARED[operation.method, operation.path]
    named = one.any_scope or (operation.scope,)
    return {scope.replace(":", ".") for scope in ((one.supplier_scope,) if side == "supplier" else named) if scope}


def asked(operation: Operation, world: World) -> Iterator[tuple[str, set[str]]]:
    """The paths by which a member of the world asks, each with the scopes of which one is needed.

    What both sides may ask is asked for what the world owns and for what it received; anything else is asked for nothing
    that there is, so that nothing changes.
    """
    if not DECLARED[operation.method, operation.path].supplier_scope:
        yield operation.path.format(**dict.fromkeys(operation.kinds, NOTHING)), scopes(operation, "buyer")
    elif operation.kinds:
        yield world.path(operation), scopes(operation, "buyer")
        yield world.path(operation, received=True), scopes(operation, "supplier")
    else:
        for side in SIDES:
            yield f"{operation.path}?side={side}", scopes(operation, side)


@pytest.fixture(scope="module")
def world() -> World:
    return worlds.make()


@pytest.fixture(autouse=True)
def unhurried(settings):
    settings.RATE_LIMITS_ENABLED = False


def faults(world: World, role: str, found: list[Operation]) -> list[str]:
    """Ask everything as a member of a role; return where it passes without the scope, or does not with it."""
    api, wrong = factories.as_member(world.tenant, [role]), []
    for operation in found:
        for path, needed in asked(operation, world):
            answer = api.call(operation.method, path)
            code = answer.json().get("code") if answer.status_code >= 400 else ""
            held = {one for one in PLATFORM_ROLES[role] if (role, path[: len(BY_POLICY[1])], one) != BY_POLICY}
            is_refused, is_wrong = (answer.status_code, code) == LACKING, answer.status_code in (401, 500, 503)
            if is_wrong or is_refused is not bool(needed and not needed & held):
                wrong.append(f"{operation.method} {path} {answer.status_code} {code}")
    return wrong


@pytest.mark.parametrize("role", PLATFORM_ROLES)
def test_role_passes_with_the_scope_and_with_none_but_it(role, world):
    assert "\n".join(faults(world, role, GUARDED)) == ""


def test_every_guarded_operation_is_walked():
    assert len(GUARDED) > 200
    assert {f"/v1/procurement/{one}" for one in ("invoices", "payments", "returns")} <= {one.path for one in GUARDED}


def test_the_walk_notices_doors_that_are_open(world):
    """Proof of power: with the scopes taken out, a role without any scope of trade passes everywhere."""
    found = [one for one in GUARDED if one.path.startswith("/v1/procurement/payments")]
    with mock.patch.object(permissions.Actor, "may", return_value=True):
        assert len(faults(world, "clinic_receptionist", found)) > len(found)
