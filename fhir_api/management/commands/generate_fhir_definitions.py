"""`manage.py generate_fhir_definitions`: writes `fhir_api/definitions` from the official definitions of R4."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from fhir_api.generation import definitions

_NAMES = ("search_parameters", "structure_definitions", "valuesets", "compartments")


class Command(BaseCommand):
    """Generates search parameters, extraction and schema."""

    help = "Writes the generated files of fhir_api/definitions. The same input gives the same bytes."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the files of definitions."""
        for name in _NAMES:
            option = f"--{name.replace('_', '-')}"
            parser.add_argument(option, type=Path, nargs="+", required=True, help="JSON arrays, perhaps with gzip")
        text = "JSON arrays, perhaps with gzip; without them the rules of the vital signs are left as they are"
        parser.add_argument("--vital-signs-profiles", type=Path, nargs="+", default=[], help=text)
        text = "UCUM's ucum-essence.xml; without it the table of units is left as it is"
        parser.add_argument("--ucum-essence", type=Path, help=text)
        parser.add_argument("--check", action="store_true", help="only say whether the files are what would be written")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write what differs, or with --check name it and fail."""
        essence: Path | None = options["ucum_essence"]
        files = definitions.files(
            *(definitions.read(*options[name]) for name in _NAMES),
            vital_signs_profiles=definitions.read(*options["vital_signs_profiles"]),
            ucum_essence=essence.read_bytes() if essence else b"",
        )
        differing = [path for path, content in files.items() if not path.exists() or path.read_bytes() != content]
        if options["check"] and differing:
            raise CommandError("Not what would be generated: " + ", ".join(path.name for path in differing))
        for path in differing:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[path])
        self.stdout.write(f"{len(files)} files, {len(differing)} written.")
