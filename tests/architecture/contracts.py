"""The import contracts of pyproject.toml, as tests read them."""

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def linter() -> dict[str, Any]:
    """The linter's part of pyproject.toml."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return found


def contract(name: str) -> dict[str, Any]:
    """One contract."""
    (found,) = [one for one in linter()["contracts"] if one["name"] == name]
    return dict(found)


def root_packages() -> list[str]:
    """The packages of the platform."""
    return list(linter()["root_packages"])
