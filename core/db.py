"""Transactions and the tenant that is bound in them.

The runtime login (`hp_runtime`) may not touch tenant tables at all. Inside a transaction it takes on `hp_app` (rows the
tenant owns) or `hp_counterparty` (rows whose other party it is), with `app.tenant_id` set; both end with the transaction.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from core.constraints import refusal_of

P = ParamSpec("P")
R = TypeVar("R")

OWN = "hp_app"
COUNTERPARTY = "hp_counterparty"

_BIND = "SELECT set_config('app.tenant_id', %s, true), set_config('role', %s, true)"
_EXCHANGE = """
WITH before AS MATERIALIZED (SELECT current_setting('app.tenant_id', true) AS tenant, current_setting('role') AS role)
SELECT before.tenant, before.role, set_config('app.tenant_id', %s, true), set_config('role', %s, true) FROM before
"""


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


@needs_transaction
def bind_tenant(tenant_id: UUID | None, role: str = OWN) -> None:
    """Bind the open transaction to one tenant and role; both are gone after COMMIT or ROLLBACK."""
    with connection.cursor() as cursor:
        cursor.execute(_BIND, [str(tenant_id or ""), role])


@contextmanager
def tenant_context(tenant_id: UUID, role: str = OWN) -> Iterator[None]:
    """Work as one tenant in a transaction; nested inside another binding, restore that one by hand at the end."""
    with _bound(str(tenant_id), role):
        yield


@contextmanager
def role_context(role: str) -> Iterator[None]:
    """Work under one of the narrow database roles (no tenant) in a transaction of its own, e.g. the webhook dispatcher."""
    with _bound("", role):
        yield


@contextmanager
def _bound(tenant_id: str, role: str) -> Iterator[None]:
    is_inner = connection.in_atomic_block
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_EXCHANGE, [tenant_id, role])
            before = cursor.fetchone()
        yield
        if is_inner:  # else the end of the transaction takes both back
            with connection.cursor() as cursor:
                cursor.execute(_BIND, [before[0] or "", before[1]])
