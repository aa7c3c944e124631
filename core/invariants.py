"""Rules that hold between rows of several tables, proved by reading them all: `manage.py prove_invariants`.

An app registers its checks in `apps.py`; each gets a tenant and yields what is broken. Nothing is repaired: a breach is
a fault of the program, and a repair would hide it.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple
from uuid import UUID


class Breach(NamedTuple):
    """One row for which a rule does not hold, in words without personal data."""

    rule: str
    tenant_id: UUID
    table: str
    row_id: UUID
    what: str


Check = Callable[[UUID], Iterable[Breach]]

_checks: dict[str, Check] = {}


def prove_with(rule: str, check: Check) -> None:
    """Register the check of a rule; a second one of the same name replaces it."""
    _checks[rule] = check


def checks() -> dict[str, Check]:
    """Return all checks by the name of their rule."""
    return dict(sorted(_checks.items()))


def breaches(tenant_id: UUID) -> Iterable[Breach]:
    """Yield every breach of every rule in one tenant."""
    for check in checks().values():
        yield from check(tenant_id)
