"""The check for migrations that would block or break a running service: `python -m devtools.migrations`.

Squawk checks the SQL of every migration except the first of each app, whose tables are new and unused. A migration
whose docstring has a line `Safe: reason` is accepted.
"""

import os
import subprocess
import sys
from pathlib import Path

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.loader import MigrationLoader

from config.schema import ROOT

_RULES = "prefer-text-field,prefer-bigint-over-int,prefer-identity,prefer-robust-stmts,prefer-timestamp-tz,require-timeout-settings"


def main() -> int:
    """Print the unsafe migrations and return 1 if there are any."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    loader = MigrationLoader(connections[DEFAULT_DB_ALIAS], ignore_no_migrations=True)
    failed = False
    for (label, name), migration in sorted(loader.disk_migrations.items()):
        file = Path(sys.modules[migration.__module__].__file__ or "")
        if migration.initial or name.startswith("0001") or ROOT not in file.parents or ".venv" in file.parts:
            continue
        if "Safe:" in (sys.modules[migration.__module__].__doc__ or ""):
            continue
        failed |= not _is_safe(loader, label, name)
    return 1 if failed else 0


def _is_safe(loader: MigrationLoader, label: str, name: str) -> bool:
    plan = [(loader.graph.nodes[label, name], False)]
    statements = "\n".join(loader.collect_sql(plan))
    squawk = [
        str(Path(sys.executable).parent / "squawk"),
        "--assume-in-transaction",
        "--exclude",
        _RULES,
        "--stdin-filepath",
        f"{label}/{name}.sql",
    ]
    ended = subprocess.run(squawk, input=statements, capture_output=True, text=True, check=False)
    if ended.returncode:
        print(ended.stdout + ended.stderr)
    return ended.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
