"""Transactions and what is bound in them: the tenant, the subject, the locations in reach, and the database role.

The login role of the service (`hp_runtime`) has no access to tenant tables. Inside a transaction it assumes `hp_app`,
which sees the rows of the tenant in `app.tenant_id`. All four settings are bound together by one SQL function, `hp_bind`,
inside BEGIN, and end with the transaction, so none outlives the others. A transaction may bind one tenant after the other;
it keeps the role that it assumed first, unless it takes on the market's for what it reads last (`take_on_call`).

`app.location_ids` holds a PostgreSQL array; the empty array ("{}") reaches all locations of the tenant. The membership
proof binds the locations of the membership. Everything else that binds a tenant is work of the platform itself and
reaches all locations. Where nothing is bound the setting is not an array, and a condition on it holds for no row.
Source: contract, organizations.md "Rules of the tables".
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, IntegrityError, connection, connections, transaction
from django.db.backends.utils import CursorWrapper

from core.actor import Actor
from core.arrays import array_literal
from core.constraints import refusal_of

from .pipeline import Call, Rows, Statement, run

P = ParamSpec("P")
R = TypeVar("R")

OWN = "hp_app"
MARKET = "hp_market"

BOUND_TENANT = "NULLIF(current_setting('app.tenant_id', true), '')::uuid"
# What is written is compared as text, row by row: to write a UUID costs less than to read one. `hp_bind` gets it in this form.
BOUND_TENANT_TEXT = "current_setting('app.tenant_id', true)"
BOUND_SUBJECT = "(SELECT NULLIF(current_setting('app.subject_id', true), '')::uuid)"
BOUND_LOCATIONS = "(SELECT NULLIF(current_setting('app.location_ids', true), '')::uuid[])"

# A plain expression, so that PostgreSQL puts it in the place of each call.
BIND_FUNCTION = """
CREATE OR REPLACE FUNCTION hp_bind(tenant text, role text, subject text DEFAULT '', locations text DEFAULT '{}')
RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT set_config('app.tenant_id', tenant, true) || set_config('app.subject_id', subject, true)
      || set_config('app.location_ids', locations, true) || set_config('role', role, true)
$$
"""

_ALL_LOCATIONS = "{}"
_SETTINGS = ("app.tenant_id", "app.subject_id", "app.location_ids", "role")
_BIND = "SELECT hp_bind(%s, %s, %s, %s)"
_READ = "SELECT " + ", ".join(f"coalesce(current_setting('{name}', true), '')" for name in _SETTINGS)
_BIND_CALL = Statement.of("SELECT hp_bind($1, $2)")
_BIND_ACTOR_CALL = Statement.of("SELECT hp_bind($1, $2, $3, $4)")
# Where nothing is bound, the login role stays, to which the tables are closed.
_TAKE_ON = Statement.of(f"SELECT set_config('role', $1, true) WHERE current_user = '{OWN}'")


def needs_transaction(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse to run outside an open transaction, and turn a violated unique constraint into its model's refusal.

    :raises RuntimeError: no transaction is open; a programming error.
    """

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        if not connection.in_atomic_block:
            raise RuntimeError(f"{function.__qualname__} must run inside a transaction")
        try:
            return function(*args, **kwargs)
        except IntegrityError as error:
            if refusal := refusal_of(error):
                raise refusal from error
            raise

    return guarded


def bind_expression(*, tenant: str, role: str, subject: str, location_ids: str) -> str:
    """Return the expression by which a membership proof binds its tenant; the arguments are SQL of type text."""
    return f"hp_bind({tenant}, {role}, {subject}, {location_ids})"


@needs_transaction
def bind_tenant(tenant_id: UUID | None, role: str = OWN) -> None:
    """Bind the open transaction to a tenant, all of its locations and a database role, until COMMIT or ROLLBACK."""
    with connection.cursor() as cursor:
        cursor.execute(_BIND, _of_platform(tenant_id, role))


def bind_call(tenant_id: UUID) -> Call:
    """Return the statement that binds a tenant, to be sent in the same trip as others; the role is `hp_app`."""
    return Call(_BIND_CALL, [str(tenant_id), OWN])


def bind_actor_call(actor: Actor) -> Call:
    """Return the statement that binds an actor as the proof of its membership does: with its subject and its locations.

    An action that has bound other tenants sends it last, where the answer tells what is the caller's own.
    """
    return Call(
        _BIND_ACTOR_CALL, [str(actor.tenant_id), OWN, str(actor.subject_id), array_literal(sorted(actor.location_ids))]
    )


def take_on_call(role: str) -> Call:
    """Return the statement that changes the role for the rest of a transaction in which a tenant is bound, and stays so.

    Where no tenant is bound it changes nothing.
    """
    return Call(_TAKE_ON, [role])


def run_bound(tenant_id: UUID, calls: Sequence[Call]) -> list[Rows]:
    """Run the calls in one trip: in the open transaction, which the caller has bound, or in a new one of the tenant."""
    if connection.in_atomic_block:
        return run(calls)
    return run([bind_call(tenant_id), *calls])[1:]


@contextmanager
def lasting_cursor() -> Iterator[CursorWrapper]:
    """Lend a cursor of a further connection that commits each statement, whatever becomes of the open transaction."""
    further = connections[DEFAULT_DB_ALIAS].copy()
    try:
        with further.cursor() as cursor:
            yield cursor
    finally:
        further.close()


@contextmanager
def tenant_context(tenant_id: UUID) -> Iterator[None]:
    """Open a transaction in which the platform itself works in one tenant: no subject, all locations.

    Inside another binding, that binding is restored at the end.
    """
    with _bound(tenant_id, OWN):
        yield


@contextmanager
def role_context(role: str) -> Iterator[None]:
    """Open a transaction under one of the narrow database roles, without a tenant; for example the dispatcher's."""
    with _bound(None, role):
        yield


@contextmanager
def _bound(tenant_id: UUID | None, role: str) -> Iterator[None]:
    is_inner = connection.in_atomic_block
    before: tuple[str, ...] = ()
    with transaction.atomic():
        with connection.cursor() as cursor:
            if is_inner:
                cursor.execute(_READ)
                before = cursor.fetchone()
            cursor.execute(_BIND, _of_platform(tenant_id, role))
        yield
        if is_inner:  # otherwise the settings end with the transaction
            tenant, subject, locations, former = before
            with connection.cursor() as cursor:
                cursor.execute(_BIND, [tenant, former, subject, locations])


def _of_platform(tenant_id: UUID | None, role: str) -> list[str]:
    """Return the arguments of `hp_bind` for work of the platform itself."""
    return [str(tenant_id or ""), role, "", _ALL_LOCATIONS if tenant_id else ""]
