"""How the commands that load tables tell what they did, and what was wrong with a file."""

from collections.abc import Iterator

from prescriptions.medications.csv_files import UnusableTable
from prescriptions.medications.load_sql import MOST_SHOWN
from prescriptions.medications.loading import Load

_SIGNS = {"added": "+", "changed": "~", "removed": "-"}


def lines_of_load(found: Load, *, dry_run: bool) -> Iterator[str]:
    """Yield the lines that tell what a load did or would do; a dry run names the differences."""
    numbers = f"{found.rows} rows: {found.added} added, {found.changed} changed, {found.removed} removed"
    if dry_run:
        yield f"{found.table}, {numbers}; nothing was written."
        yield from _differences(found)
    elif found.is_new:
        yield f"{found.table}, version {found.version}, {numbers}."
    else:
        yield f"{found.table}, version {found.version}: unchanged."


def _differences(found: Load) -> Iterator[str]:
    for kind, sign in _SIGNS.items():
        named = [one for one in found.differences if one.kind == kind]
        for one in named:
            yield f"{sign} {one.key}" + (f" ({', '.join(one.columns)})" if one.columns else "")
        total = getattr(found, kind)
        if total > len(named):
            yield f"{sign} … and {total - len(named)} more; {MOST_SHOWN} of each kind are named."


def faults_of(refusal: UnusableTable) -> str:
    """Write a refusal as lines: what it is, then each fault with its line."""
    return "\n".join([refusal.detail, *(f"{fault.field}: {fault.message}" for fault in refusal.errors)])
