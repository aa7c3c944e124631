"""`manage.py openapi`: write docs/openapi.yaml from the code, or check that it is up to date."""

import re
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
        text = written(docs.document())
        if not options["check"]:
            path.write_text(text)
            self.stdout.write(f"wrote {path.name}: {text.count('operationId:')} operations")
        elif not path.exists() or path.read_text() != text:
            raise CommandError("docs/openapi.yaml is not what the code says: run ./dev manage openapi")


_NUMBER_LIKE = re.compile(
    r"[-+]?\.?\d+(\.\d*)?([eE][-+]?\d+)?"
)  # YAML 1.2 reads 0400 as a number, PyYAML's 1.1 does not

_LINE = 90


class _Writer(yaml.SafeDumper):
    """YAML as people write it: what is small stands on one line, text of several lines is a block."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write what occurs twice twice: readers of the document do not expect YAML's anchors."""
        return True


def _is_small(value: Any) -> bool:
    parts = value.values() if isinstance(value, dict) else value
    flat = all(not isinstance(part, dict | list) or (isinstance(part, list) and _is_small(part)) for part in parts)
    return flat and len(str(value)) <= _LINE and "\n" not in str(value)


def _mapping(writer: yaml.SafeDumper, value: dict[str, Any]) -> yaml.Node:
    return writer.represent_mapping("tag:yaml.org,2002:map", value, flow_style=_is_small(value))


def _sequence(writer: yaml.SafeDumper, value: list[Any]) -> yaml.Node:
    flow = not any(isinstance(part, dict | list) for part in value)  # names and codes; long ones are wrapped
    return writer.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=flow)


def _text(writer: yaml.SafeDumper, value: str) -> yaml.Node:
    style = "|" if "\n" in value else "'" if _NUMBER_LIKE.fullmatch(value) else None
    return writer.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Writer.add_representer(dict, _mapping)
_Writer.add_representer(list, _sequence)
_Writer.add_representer(str, _text)


def written(document: dict[str, object]) -> str:
    """The document as the YAML that is committed."""
    plain = _plain(document)
    return yaml.dump(plain, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=140, default_flow_style=False)


def _plain(value: Any) -> Any:
    """The document without lazy strings and other types that YAML does not know."""
    if isinstance(value, dict):
        return {str(key): _plain(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(child) for child in value]
    return value if isinstance(value, bool | int | float | type(None)) else str(value)
