"""`manage.py openapi`: write docs/openapi.yaml from the code, or check that it is up to date."""

from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from api import docs


class Command(BaseCommand):
    """Hold the committed document against the code."""

    help = "Write docs/openapi.yaml; with --check, fail if it differs from what the code says."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true")

    def handle(self, *_: Any, **options: Any) -> None:
        path: Path = settings.BASE_DIR / "docs" / "openapi.yaml"
        text = yaml.safe_dump(_plain(docs.document()), sort_keys=False, allow_unicode=True, width=140)
        if not options["check"]:
            path.write_text(text)
            self.stdout.write(f"wrote {path.name}: {text.count('operationId:')} operations")
        elif not path.exists() or path.read_text() != text:
            raise CommandError("docs/openapi.yaml is not what the code says: run ./dev manage openapi")


def _plain(value: Any) -> Any:
    """The document without lazy strings and other types that YAML does not know."""
    if isinstance(value, dict):
        return {str(key): _plain(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(child) for child in value]
    return value if isinstance(value, bool | int | float | type(None)) else str(value)
