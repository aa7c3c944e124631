"""A store of the tests' own: a fresh folder for each test."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    """Keep files in a folder of this test."""
    place = tmp_path / "files"
    options = {**settings.STORAGES["files"]["OPTIONS"], "location": str(place)}
    settings.STORAGES = {**settings.STORAGES, "files": {**settings.STORAGES["files"], "OPTIONS": options}}
    return place
