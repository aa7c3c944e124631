"""`manage.py generate_fhir_definitions`: writes `fhir_api/definitions` from the official definitions of R4."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from fhir_api.generation import definitions


class Command(BaseCommand):
    """Generates search parameters, extraction and schema."""

    help = "Writes the generated files of fhir_api/definitions. The same input gives the same bytes."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the three files of definitions."""
        parser.add_argument("--search-parameters", type=Path, required=True, help="JSON array, .json or .json.gz")
        parser.add_argument("--structure-definitions", type=Path, required=True)
        parser.add_argument("--valuesets", type=Path, required=True)
        parser.add_argument("--check", action="store_true", help="only say whether the files are what would be written")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write what differs, or with --check name it and fail."""
        names = ("search_parameters", "structure_definitions", "valuesets")
        files = definitions.files(*(definitions.read(options[name]) for name in names))
        differing = [path for path, content in files.items() if not path.exists() or path.read_bytes() != content]
        if options["check"] and differing:
            raise CommandError("Not what would be generated: " + ", ".join(path.name for path in differing))
        for path in differing:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[path])
        self.stdout.write(f"{len(files)} files, {len(differing)} written.")
