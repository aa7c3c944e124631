"""`manage.py seed_demo`: creates the demo data and writes its credentials; existing rows are kept."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from core import clock
from organizations.demo import seed
from organizations.management.base import TenantCommand


class Command(TenantCommand):
    """Create the demo data."""

    help = (
        "Creates the demo tenants, users, API keys and client, and writes demo.json (mode 600); existing rows are kept."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add an argument for the file."""
        super().add_arguments(parser)
        parser.add_argument("--file", default=str(settings.DATA_DIR / "demo.json"))

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Create the demo data and return what was created.

        :raises CommandError: the file cannot be written.
        """
        try:
            made = seed(Path(options["file"]), at=clock.now())
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be written: {error.strerror}") from error
        return {"file": options["file"], "made": made, "changed": bool(made)}
