"""Group 1: every operation of the document, asked by principals who must not pass. Nothing but the right refusal is allowed."""

from collections.abc import Callable
from unittest import mock

import pytest

from api import reads
from core.clock import now
from core.ids import uuid7
from organizations import tokens
from organizations.models import Membership
from organizations.roles import roles_holding
from tests import factories
from tests.appointments.practice import practitioner
from tests.factories import Api
from tests.security import worlds
from tests.security.clinics import CLINICAL, clinical_ids
from tests.security.worlds import Operation, World, operations

pytestmark = pytest.mark.untraced

GUARDED = [operation for operation in operations() if not operation.public]
TENANT_FREE = {"/v1/auth/mfa/enroll", "/v1/auth/mfa/verify"}
# Of what a world has another one as the supplier; and what is nobody's: a table of medications.
RECEIVED = {
    "deliveries", "invoices", "item_id", "order", "orders", "payments", "price-agreements", "purchase-orders", "returns",
    "shipments",
}  # fmt: skip
OF_NOBODY = {"system", "code of {system}"}
APART = OF_NOBODY | set(CLINICAL)  # of tenants that are not the world's own
SCHEDULE = "/v1/appointments/schedules/{practitioner_id}"  # a PUT creates it: the refusal is that of what it names


@pytest.fixture(scope="module")
def mine() -> World:
    return worlds.make()


@pytest.fixture(scope="module")
def theirs() -> World:
    """A world with one of everything, what a clinic and a pharmacy keep included."""
    made = worlds.make()
    made.ids |= clinical_ids()
    return made


@pytest.fixture(scope="module")
def expired(mine) -> str:
    from datetime import timedelta

    at = now() - timedelta(hours=1)
    return tokens.issue_access_token(
        subject_id=mine.person.id, subject_kind=tokens.SubjectKind.USER, client_id=tokens.FIRST_PARTY_CLIENT,
        scopes=None, session_id=uuid7(), acr="password", amr=("pwd",), authenticated_at=at, at=at,
    )  # fmt: skip


def ids(found: list[Operation]):
    return pytest.mark.parametrize("operation", found, ids=str)


def refused(
    operation: Operation, api: Api, world: World, wanted: set[tuple[int, str]], *, received: bool = False
) -> None:
    answer = api.call(operation.method, world.path(operation, received=received))
    assert (answer.status_code, answer.json()["code"]) in wanted, answer.content
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["X-Request-Id"] == answer.json()["request_id"]
    assert {"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Policy"} <= set(answer.headers)


@ids(GUARDED)
def test_no_credential_is_401(operation, mine):
    refused(operation, Api(tenant=mine.tenant), mine, {(401, "not_authenticated")})


@ids(GUARDED)
def test_expired_token_is_401(operation, mine, expired):
    refused(operation, Api(token=expired, tenant=mine.tenant), mine, {(401, "invalid_token")})


@ids(GUARDED)
def test_unknown_key_is_401(operation, mine):
    refused(operation, Api(key="hpk_live_00000000_" + "0" * 38, tenant=mine.tenant), mine, {(401, "invalid_token")})


@ids(GUARDED)
def test_two_credentials_are_400(operation, mine):
    refused(operation, Api(key=mine.key, token=mine.token, tenant=mine.tenant), mine, {(400, "invalid_request")})


@ids([operation for operation in GUARDED if operation.path not in TENANT_FREE])
def test_header_of_a_foreign_tenant_is_403(operation, mine, theirs):
    refused(operation, Api(token=mine.token, tenant=theirs.tenant), theirs, {(403, "tenant_forbidden")})


@ids([operation for operation in GUARDED if operation.path not in TENANT_FREE])
def test_key_of_another_tenant_is_403(operation, mine, theirs):
    refused(operation, Api(key=theirs.key, tenant=mine.tenant), mine, {(403, "tenant_forbidden")})


NAMING = [
    operation
    for operation in GUARDED
    if "{" in operation.path
    and (operation.method, operation.path) != ("PUT", SCHEDULE)
    and not (operation.method == "PUT" and operation.path.endswith("{code}"))  # a code is the tenant's own
]


@ids(NAMING)
def test_id_of_another_tenant_is_404(operation, mine, theirs):
    refused(operation, mine.api, theirs, {(404, "not_found")})


@ids([operation for operation in NAMING if not RECEIVED.isdisjoint(operation.kinds.values())])
def test_id_of_what_another_tenant_received_is_404(operation, mine, theirs):
    refused(operation, mine.api, theirs, {(404, "not_found")}, received=True)


def test_there_is_a_row_of_another_tenant_for_every_id(theirs):
    """An id of nothing is 404 anywhere; only one that is there shows that a wall stands."""
    kinds = {kind for operation in NAMING for kind in operation.kinds.values()}
    assert kinds - set(theirs.ids) == OF_NOBODY
    assert set(theirs.received) == RECEIVED


def test_each_id_is_found_by_its_owner(theirs):
    """Proof of power: who has what the ids name does not get 404, as the owner or as the one who received it."""
    lost = []
    for operation in (one for one in NAMING if one.method == "GET" and not APART & set(one.kinds.values())):
        paths = {theirs.path(operation, received=received) for received in (False, True)}
        if all(theirs.api.get(path).status_code == 404 for path in paths):
            lost.append(str(operation))
    assert lost == ["GET /v1/procurement/products/{id}"]  # nobody buys of itself


def test_practitioner_of_another_tenant_gets_no_schedule(mine, theirs):
    theirs_id = practitioner(theirs.tenant)
    answer = mine.api.put(SCHEDULE.format(practitioner_id=theirs_id), json={"hours": []})
    assert (answer.status_code, answer.json()["code"]) == (422, "practitioner_not_found"), answer.content
    assert mine.api.get(SCHEDULE.format(practitioner_id=theirs_id)).status_code == 404


@ids([operation for operation in GUARDED if operation.scope])
def test_token_without_the_scope_is_403(operation, mine):
    narrow = factories.bearer(mine.person, scopes="openid profile")
    refused(operation, Api(token=narrow, tenant=mine.tenant), mine, {(403, "insufficient_scope")})


@ids([operation for operation in GUARDED if operation.scope])
def test_role_without_the_scope_is_403(operation, mine):
    role = next(role for role in ("auditor", "finance") if role not in roles_holding(operation.scope))
    person, _ = factories.member(mine.tenant, [role])
    refused(operation, Api(token=factories.bearer(person), tenant=mine.tenant), mine, {(403, "insufficient_scope")})


@ids([operation for operation in GUARDED if operation.path not in TENANT_FREE])
def test_suspended_membership_is_403(operation, mine):
    person, membership = factories.member(mine.tenant, worlds.EVERYTHING)
    Membership._base_manager.filter(pk=membership.pk).update(status="suspended")
    refused(operation, Api(token=factories.bearer(person), tenant=mine.tenant), mine, {(403, "tenant_forbidden")})


@ids([operation for operation in GUARDED if operation.path not in TENANT_FREE])
def test_membership_id_of_somebody_else_is_403(operation, mine, theirs):
    api = Api(token=mine.token, tenant=mine.tenant)
    api.headers["X-Membership-Id"] = str(theirs.membership.id)
    refused(operation, api, mine, {(403, "membership_forbidden")})


@pytest.mark.parametrize(
    ("check", "planted"),
    [
        (test_token_without_the_scope_is_403, lambda: mock.patch.object(reads, "authorize", return_value=None)),
        (test_id_of_another_tenant_is_404, lambda: mock.patch.object(reads, "NotFound", reads.Forbidden)),
    ],
)
def test_the_walk_notices_a_planted_fault(check: Callable[..., None], planted, mine, theirs):
    """Proof of power: with the check taken out, the walk must fail somewhere."""
    noticed = 0
    for operation in (
        one for one in GUARDED if one.scope and one.method == "GET" and one.path.startswith("/v1/products")
    ):
        arguments = {"operation": operation, "mine": mine, "theirs": theirs}
        names = check.__code__.co_varnames[: check.__code__.co_argcount]
        try:
            with planted():
                if "{" in operation.path or "theirs" not in names:
                    check(**{name: arguments[name] for name in names})
        except (AssertionError, KeyError):
            noticed += 1
    assert noticed
