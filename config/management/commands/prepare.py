"""`manage.py prepare`: migrates the database to this version of the code and, if wanted, creates the demo data."""

import json
import os
import time
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command, get_commands
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connections, transaction

from config.demo_record import seed_practitioners
from config.migrating import faster_migrations
from config.schema import fingerprint
from core import clock

_LOCK = 7_206_002
_READ = "SELECT obj_description(to_regclass('public.django_migrations'), 'pg_class')"


class Command(BaseCommand):
    help = "Migrate if the schema's fingerprint changed; with DEMO_DATA create the demo data; existing rows are kept."
    requires_system_checks = []  # `./dev check` and the deploy checks run them; a start should not wait for them

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--force", action="store_true", help="migrate even if the fingerprint is unchanged")
        parser.add_argument(
            "--no-demo", action="store_true", help="do not create the demo data, whatever DEMO_DATA says"
        )
        parser.add_argument("--json", action="store_true", help="print the outcome as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate and create the demo data in one process, so that Django is imported only once."""
        began = time.monotonic()
        try:
            migrated = self._migrate(force=options["force"])
        except DatabaseError as error:
            raise CommandError(f"The database cannot be prepared: {str(error).strip().splitlines()[0]}") from error
        seeded = settings.DEMO_DATA and not options["no_demo"] and self._seed()
        outcome = {"migrated": migrated, "seeded": bool(seeded), "seconds": round(time.monotonic() - began, 2)}
        if options["json"]:
            self.stdout.write(json.dumps(outcome))
        else:
            self.stdout.write(f"database {'migrated' if migrated else 'up to date'}, {outcome['seconds']} s")

    def _migrate(self, *, force: bool) -> bool:
        wanted = f"schema {fingerprint()}"
        connection = connections["owner"]
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])  # replicas that start together take turns
            try:
                cursor.execute(_READ)
                if cursor.fetchone()[0] == wanted and not force:
                    return False
                with faster_migrations():
                    call_command("migrate", database="owner", interactive=False, verbosity=0)
                with transaction.atomic(using="owner"):
                    cursor.execute("COMMENT ON TABLE django_migrations IS %s", [wanted])
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])
        return True

    def _seed(self) -> bool:
        if "seed_demo" not in get_commands():
            return False
        path = Path(os.environ.get("DEMO_FILE") or settings.DATA_DIR / "demo.json")
        call_command("seed_demo", file=str(path))
        seed_practitioners(path, at=clock.now())
        _qualify_suppliers(path)
        return True


def _qualify_suppliers(path: Path) -> None:
    """Let the demo suppliers trade; a profile that is there is kept."""
    tenants = json.loads(path.read_text(encoding="utf-8"))["tenants"]
    for number, name in enumerate(("supplier", "other_supplier"), 1):
        registration = [f"national:DEMO-{number}"]
        options = {"tenant": tenants[name]["id"], "country": "DE", "registration": registration, "qualify": True}
        call_command("create_supplier", stdout=StringIO(), **options)
