"""Transactions and what is bound in them: the tenant, the subject, the locations in reach, and the database role.

The login role of the service (`hp_runtime`) has no access to tenant tables. Inside a transaction it assumes `hp_app`
(rows that the tenant owns) or `hp_counterparty` (rows in which the tenant is the other party), and `app.tenant_id` is
set. All four settings are always bound together and end with the transaction, so none outlives the others.

`app.location_ids` holds a PostgreSQL array; the empty array ("{}") reaches all locations of the tenant. The membership
proof binds the locations of the membership. Everything else that binds a tenant is work of the platform itself and
reaches all locations. Where nothing is bound the setting is not an array, and a condition on it holds for no row.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from core.constraints import refusal_of

from .pipeline import Call, Rows, Statement, run

P = ParamSpec("P")
R = TypeVar("R")

OWN = "hp_app"
COUNTERPARTY = "hp_counterparty"

BOUND_SUBJECT = "(SELECT NULLIF(current_setting('app.subject_id', true), '')::uuid)"
BOUND_LOCATIONS = "(SELECT NULLIF(current_setting('app.location_ids', true), '')::uuid[])"

_ALL_LOCATIONS = "{}"
_SETTINGS = ("app.tenant_id", "app.subject_id", "app.location_ids", "role")
_BIND = "SELECT " + ", ".join(f"set_config('{name}', %s, true)" for name in _SETTINGS)
_EXCHANGE = (
    "WITH before AS MATERIALIZED (SELECT "
    + ", ".join(f"current_setting('{name}', true) AS v{number}" for number, name in enumerate(_SETTINGS))
    + ") SELECT v0, v1, v2, v3, "
    + ", ".join(f"set_config('{name}', %s, true)" for name in _SETTINGS)
    + " FROM before"
)
_BIND_CALL = Statement.of(
    "SELECT " + ", ".join(f"set_config('{name}', ${n}, true)" for n, name in enumerate(_SETTINGS, 1))
)


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


def bind_expressions(*, tenant: str, subject: str, location_ids: str, role: str) -> str:
    """Return the select list by which a membership proof binds the settings; the arguments are SQL of type text."""
    values = (tenant, subject, location_ids, role)
    return ", ".join(f"set_config('{name}', {value}, true)" for name, value in zip(_SETTINGS, values, strict=True))


@needs_transaction
def bind_tenant(tenant_id: UUID | None, role: str = OWN) -> None:
    """Bind the open transaction to a tenant, all of its locations and a database role, until COMMIT or ROLLBACK."""
    with connection.cursor() as cursor:
        cursor.execute(_BIND, _of_platform(tenant_id, role))


def bind_call(tenant_id: UUID, role: str = OWN) -> Call:
    """Return the statement of `bind_tenant`, to be sent in the same trip as others."""
    return Call(_BIND_CALL, _of_platform(tenant_id, role))


def run_bound(tenant_id: UUID, calls: Sequence[Call]) -> list[Rows]:
    """Run the calls in one trip: in the open transaction, which the caller has bound, or in a new one of the tenant."""
    if connection.in_atomic_block:
        return run(calls)
    return run([bind_call(tenant_id), *calls])[1:]


@contextmanager
def tenant_context(tenant_id: UUID, role: str = OWN) -> Iterator[None]:
    """Open a transaction in which the platform itself works in one tenant: no subject, all locations.

    Inside another binding, that binding is restored at the end.
    """
    with _bound(tenant_id, role):
        yield


@contextmanager
def role_context(role: str) -> Iterator[None]:
    """Open a transaction under one of the narrow database roles, without a tenant; for example the dispatcher's."""
    with _bound(None, role):
        yield


@contextmanager
def _bound(tenant_id: UUID | None, role: str) -> Iterator[None]:
    is_inner = connection.in_atomic_block
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_EXCHANGE, _of_platform(tenant_id, role))
            before = cursor.fetchone()[: len(_SETTINGS)]
        yield
        if is_inner:  # otherwise the settings end with the transaction
            with connection.cursor() as cursor:
                cursor.execute(_BIND, [value or "" for value in before])


def _of_platform(tenant_id: UUID | None, role: str) -> list[str]:
    return [str(tenant_id or ""), "", _ALL_LOCATIONS if tenant_id else "", role]
