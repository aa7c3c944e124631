"""Gaps in the checkpoints of audit histories: changes that stand in none, numbers that are missing, links that do not fit.

Source: contract, prescriptions.md "Checkpoints": one is made each hour in which a history has changed.
"""

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final
from uuid import UUID

from prescriptions.evidence.models import Checkpoint
from prescriptions.lifecycle.chain_models import AuditEntry
from prescriptions.unguarded_histories import LATE_AFTER

MOST_COMPARED: Final = 1000


@dataclass(frozen=True, slots=True)
class Gap:
    """One fault: what kind it is, and a sentence that says where."""

    kind: str
    words: str


def gaps_of(tenant_id: UUID, at: datetime) -> list[Gap]:
    """Return the gaps in the checkpoints of the bound tenant; of the newest thousand only."""
    newest = list(Checkpoint.objects.filter(tenant_id=tenant_id).order_by("-number").defer("jws")[:MOST_COMPARED])
    return [*_late(tenant_id, newest[0] if newest else None, at), *_missing(newest)]


def _late(tenant_id: UUID, newest: Checkpoint | None, at: datetime) -> list[Gap]:
    entries = AuditEntry.objects.filter(tenant_id=tenant_id, occurred_at__lte=at - LATE_AFTER)
    if newest is not None:
        entries = entries.filter(occurred_at__gt=newest.at)
    first = entries.order_by("occurred_at", "id").values_list("occurred_at", flat=True).first()
    if first is None:
        return []
    last = f"the last one is of {newest.at:%Y-%m-%d %H:%M} UTC" if newest else "there is none"
    return [Gap("late", f"Histories have changed since {first:%Y-%m-%d %H:%M} UTC without a checkpoint; {last}.")]


def _missing(newest: list[Checkpoint]) -> list[Gap]:
    found = []
    for after, before in pairwise(newest):
        if after.number != before.number + 1:
            found.append(Gap("missing", f"Between {before.number} and {after.number} checkpoints are missing."))
        elif after.previous != before.digest:
            found.append(
                Gap("unlinked", f"Checkpoint {after.number} does not name {before.number} as its previous one.")
            )
    if newest and len(newest) < MOST_COMPARED and newest[-1].number != 1:
        found.append(Gap("missing", f"The first checkpoint has the number {newest[-1].number}."))
    return found
