"""Rules that hold between rows of several tables, proved by reading them all: `manage.py prove_invariants`.

An app registers its checks in `apps.py`; each gets a tenant and yields what is broken. Nothing is repaired: a breach is
a fault of the program, and a repair would hide it.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
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
# Is told of a tenant, of the rules that were proved in it, and of what was found, at which instant.
Reporter = Callable[[UUID, Sequence[str], Sequence[Breach], datetime], None]

_checks: dict[str, Check] = {}
_reporters: list[Reporter] = []


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


def report_with(reporter: Reporter) -> None:
    """Register who is told of each proof, whether it found something or not."""
    _reporters.append(reporter)


def report(tenant_id: UUID, found: Sequence[Breach], at: datetime) -> None:
    """Tell everybody who wants to know what a proof of all rules has found in one tenant."""
    for reporter in _reporters:
        reporter(tenant_id, [*checks()], found, at)
