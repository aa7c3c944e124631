"""Group 2: every text of the other tenant holds a canary; nothing that is answered to us may hold one."""

from unittest import mock

import pytest
from django.db import connections

from api import listing
from api.filters import Condition
from organizations import membership_sql
from tests.architecture import statements
from tests.factories import Api
from tests.security import worlds
from tests.security.worlds import World, operations

READS = [operation for operation in operations() if operation.method == "GET" and not operation.public]


@pytest.fixture(scope="module")
def mine() -> World:
    return worlds.make()


@pytest.fixture(scope="module")
def theirs() -> World:
    return worlds.make()


def questions(operation: worlds.Operation, mine: World, theirs: World) -> list[str]:
    """The operation's path with our ids and theirs, plain and with every parameter that could widen it."""
    found = []
    for world in (mine, theirs):
        path = world.path(operation)
        found.append(path)
        for name in sorted(
            operation.parameters & {"search", "status", "include", "sort", "limit", "organization_id", "directory"}
        ):
            value = {
                "search": theirs.canary,
                "status": "active",
                "include": "prices,stock",
                "sort": "created_at",
                "limit": "200",
                "organization_id": theirs.ids["organizations"],
                "directory": "pharmacy",
            }[name]
            found.append(f"{path}?{name}={value}")
    return found


def leaks(mine: World, theirs: World, apis: list[Api]) -> list[str]:
    """Ask everything and list what shows a canary of theirs, in body or headers (but the question's own echo)."""
    found = []
    for operation in READS:
        for question in questions(operation, mine, theirs):
            for api in apis:
                answer = api.get(question)
                shown = answer.content.decode(errors="replace") + str(dict(answer.headers))
                if operation.path.startswith("/v1/suppliers") and "/me" not in operation.path:
                    shown = shown.replace(theirs.tenant.name, "")  # the directory names suppliers to every buyer
                if theirs.canary in shown.replace(question, "").replace(f"search={theirs.canary}", ""):
                    found.append(question)
                assert answer.status_code < 500, (question, answer.content)
    return found


def credentials(world: World) -> list[Api]:
    return [world.api, Api(token=world.token), Api(key=world.key, tenant=world.tenant)]


def test_no_answer_holds_another_tenants_canary(mine, theirs):
    assert leaks(mine, theirs, credentials(mine)) == []


def test_the_canaries_sing_at_home(mine, theirs):
    """Proof of power: the owner's own walk finds them."""
    assert len(leaks(theirs, theirs, credentials(theirs))) > 5


def _unfiltered(builder: listing._Builder, condition: Condition) -> None:
    """The ORM's wall taken out: the condition on the tenant holds for every row, all others stay."""
    _ADD(
        builder,
        Condition("{0}::uuid IS NOT NULL", condition.parameters)
        if condition.sql == 't."tenant_id" = {0}'
        else condition,
    )


_ADD = listing._Builder.add


def test_without_our_own_filters_the_database_still_shows_nothing(mine, theirs):
    """Group 3's wall: with the explicit tenant filters switched off, row security answers alone."""
    with mock.patch.object(listing._Builder, "add", _unfiltered):
        statements.forget()
        found = leaks(mine, theirs, credentials(mine))
        at_home = leaks(theirs, theirs, [theirs.api])
    assert found == []
    assert at_home
    assert statements.new_faults(), "the rules of the tables do not see that the filters are off"


def test_without_filters_and_row_security_the_walk_notices(mine, theirs):
    """Proof of power: bound to nobody's rows but as a role beyond row security, the same walk leaks."""
    beyond = listing._Builder
    with connections["platform"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM suppliers_product")
        assert cursor.fetchone()[0] >= 2
    with (
        mock.patch.object(beyond, "add", _unfiltered),
        mock.patch.object(membership_sql, "one_tenant", _as_the_other(theirs)),
    ):
        statements.forget()
        assert leaks(mine, theirs, [mine.api])
    assert statements.new_faults(), "the rules of the tables do not see that the filters are off"


def _as_the_other(theirs: World):
    real = membership_sql.one_tenant

    def planted(subject, tenant_id, role):
        call = real(subject, tenant_id, role)
        sql = call.statement.sql.replace(b"hp_bind(m.tenant_id::text", f"hp_bind('{theirs.tenant.id}'".encode())
        return type(call)(type(call.statement)(sql, b""), call.parameters)

    return planted
