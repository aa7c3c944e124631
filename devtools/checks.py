"""`./dev check`: all automatic checks of a change, each printed with ok or failed; they run in parallel."""

import os
import re
import secrets
import subprocess
import sys
import time
import tomllib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from config.schema import ROOT

from .console import plain
from .environment import environment, open_backends
from .places import open_places
from .trouble import Trouble

_BIN = Path(sys.executable).parent
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
_PACKAGES: list[str] = _PROJECT["tool"]["importlinter"]["root_packages"]
_OPERATIONS = re.compile(r"^(?P<file>.*?/migrations/(?P<number>\d{4}_\w+)\.py)$")


@dataclass(frozen=True)
class Check:
    """A command with the name of the check and its environment variables."""

    name: str
    command: list[str]
    variables: Mapping[str, str]


def check(*, only: Sequence[str] = ()) -> int:
    """Run all checks, or the named ones; print each with its outcome and return 1 if one failed.

    :raises Trouble: a name is unknown.
    """
    backends = open_backends(open_places())
    try:
        checks = _all(environment(backends))
        if unknown := set(only) - {one.name for one in checks}:
            raise Trouble(
                f"There is no check {', '.join(sorted(unknown))}; there are {', '.join(one.name for one in checks)}."
            )
        chosen = [one for one in checks if not only or one.name in only]
        width = max(len(one.name) for one in chosen)
        failed = []
        with ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2)) as pool:
            for one, (good, output, seconds) in zip(chosen, pool.map(_run, chosen), strict=True):
                plain(f"{one.name:<{width}}  {'ok' if good else 'failed':<6}  {seconds:5.1f} s")
                if not good:
                    failed.append(one.name)
                    plain("".join(f"    {line}\n" for line in output.strip().splitlines()[-60:]))
    finally:
        backends.release()
    plain(f"failed: {', '.join(failed)}" if failed else "all checks passed")
    return 1 if failed else 0


def _all(here: dict[str, str]) -> list[Check]:
    manage = [sys.executable, "manage.py"]
    there = [name for name in _PACKAGES if (ROOT / name).is_dir()]
    source = [*there, "devtools", "manage.py"]
    return [
        Check("types", [_tool("mypy"), *source], here),
        Check("lint", [_tool("ruff"), "check", "."], here),
        Check("format", [_tool("ruff"), "format", "--check", "."], here),
        Check("import contracts", [_tool("lint-imports")], here),
        Check("missing migrations", [*manage, "makemigrations", "--check", "--dry-run"], here),
        Check("unsafe migrations", [sys.executable, "-m", "devtools.migrations"], here),
        Check("openapi drift", [*manage, "openapi", "--check"], here),
        Check("production settings", [*manage, "check", "--deploy", "--fail-level", "WARNING"], _production(here)),
        *_deployment(here),
        Check("commit subjects", [sys.executable, "-m", "devtools.history", "subjects"], here),
        Check("coverage floor", [sys.executable, "-m", "devtools.history", "floor"], here),
        Check("security", [_tool("bandit"), "-q", "-c", "pyproject.toml", "-r", "-ll", *there, "devtools"], here),
    ]


def _deployment(here: Mapping[str, str]) -> list[Check]:
    """Return the validators of `deploy/`, each of which knows its format without a network."""
    manifests = sorted(str(file.relative_to(ROOT)) for file in (ROOT / "deploy" / "kubernetes").glob("*.yaml"))
    scripts = sorted(str(file.relative_to(ROOT)) for file in (ROOT / "deploy").iterdir() if _is_script(file))
    compose = ["--builtin-schema", "vendor.compose-spec", "deploy/compose.yaml"]
    return [
        Check("manifests", [_tool("kubernetes-validate"), "--strict", "--quiet", *manifests], here),
        Check("compose file", [_tool("check-jsonschema"), *compose], here),
        Check("image", [_tool("hadolint"), "--failure-threshold", "info", "deploy/Dockerfile"], here),
        Check("proxy", [_tool("caddy"), "validate", "--config", "deploy/Caddyfile", "--adapter", "caddyfile"], here),
        Check("shell scripts", [_tool("shellcheck"), *scripts], here),
    ]


def _is_script(file: Path) -> bool:
    return file.is_file() and file.read_bytes().startswith(b"#!/bin/sh")


def _tool(name: str) -> str:
    return str(_BIN / name)


def _run(one: Check) -> tuple[bool, str, float]:
    began = time.monotonic()
    ended = subprocess.run(one.command, cwd=ROOT, env=dict(one.variables), capture_output=True, text=True, check=False)
    return ended.returncode == 0, ended.stdout + ended.stderr, time.monotonic() - began


def _production(here: Mapping[str, str]) -> dict[str, str]:
    """Return a production environment with secrets generated for this check."""
    return dict(here) | {
        "PRODUCTION": "true",
        "SECRET_KEY": secrets.token_urlsafe(64),
        "FIELD_ENCRYPTION_KEYS": f"check:{b64encode(secrets.token_bytes(32)).decode()}",
        "ALLOWED_HOSTS": "api.example.org",
        "BASE_URL": "https://api.example.org",
        "FHIR_BASE_URL": "https://api.example.org/fhir/R4",
        "EMAIL_URL": "smtp://mail.example.org:25",
        "WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS": "false",
        "DEMO_DATA": "false",
    }
