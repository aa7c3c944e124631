"""Transactions and what is bound in them: the tenant, the subject, the locations in reach, and the database role.

The runtime login (`hp_runtime`) may not touch tenant tables at all. Inside a transaction it takes on `hp_app` (rows the
tenant owns) or `hp_counterparty` (rows whose other party it is), with `app.tenant_id` set. All four are always bound
together and end with the transaction, so that none of them outlives the others.

`app.location_ids` holds a PostgreSQL array: empty ("{}") reaches all locations of the tenant. The membership proof binds
the membership's own list; whatever else binds a tenant is the platform's own work and reaches all. Where nothing is
bound the setting is no array, and a condition over it holds for no row.
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
    """Refuse to run outside an open transaction; a broken unique key becomes the refusal that its model declares.

    :raises RuntimeError: a programming error, never shown to a client.
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
    """SQL for the select list of a membership proof: bind what the proving row says. The arguments are SQL of type text."""
    values = (tenant, subject, location_ids, role)
    return ", ".join(f"set_config('{name}', {value}, true)" for name, value in zip(_SETTINGS, values, strict=True))


@needs_transaction
def bind_tenant(tenant_id: UUID | None, role: str = OWN) -> None:
    """Bind the open transaction to one tenant, all of its locations and a role, until COMMIT or ROLLBACK."""
    with connection.cursor() as cursor:
        cursor.execute(_BIND, _of_platform(tenant_id, role))


def bind_call(tenant_id: UUID, role: str = OWN) -> Call:
    """The statement of `bind_tenant`, for a trip that carries it along."""
    return Call(_BIND_CALL, _of_platform(tenant_id, role))


def run_bound(tenant_id: UUID, calls: Sequence[Call]) -> list[Rows]:
    """Run the calls in one trip: in the open transaction, which the caller has bound to the tenant, or in one of their own."""
    if connection.in_atomic_block:
        return run(calls)
    return run([bind_call(tenant_id), *calls])[1:]


@contextmanager
def tenant_context(tenant_id: UUID, role: str = OWN) -> Iterator[None]:
    """Work as one tenant in a transaction, as the platform itself: no subject, all locations.

    Nested inside another binding, restore that one by hand at the end.
    """
    with _bound(tenant_id, role):
        yield


@contextmanager
def role_context(role: str) -> Iterator[None]:
    """Work under one of the narrow database roles (no tenant) in a transaction of its own, e.g. the webhook dispatcher."""
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
        if is_inner:  # else the end of the transaction takes all of it back
            with connection.cursor() as cursor:
                cursor.execute(_BIND, [value or "" for value in before])


def _of_platform(tenant_id: UUID | None, role: str) -> list[str]:
    return [str(tenant_id or ""), "", _ALL_LOCATIONS if tenant_id else "", role]
