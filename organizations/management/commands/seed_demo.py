"""`manage.py seed_demo`: lays in the demo world and writes its credentials; what holds already stays as it is."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from core import clock
from organizations.demo import seed
from organizations.management.base import TenantCommand


class Command(TenantCommand):
    """Seeds the demo data."""

    help = "Makes the demo tenants, people, keys and client, and writes demo.json (mode 600)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file."""
        super().add_arguments(parser)
        parser.add_argument("--file", default=str(settings.DATA_DIR / "demo.json"))

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Seed.

        :raises CommandError: the file cannot be written.
        """
        try:
            made = seed(Path(options["file"]), at=clock.now())
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be written: {error.strerror}") from error
        return {"file": options["file"], "made": made, "changed": bool(made)}
