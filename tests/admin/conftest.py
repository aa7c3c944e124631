"""Finds a Chromium for the tests of pages in a browser."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str:
    """Return the path of a Chromium, "" where the machine has none; CHROMIUM names one."""
    return os.environ.get("CHROMIUM", "") or next(filter(None, map(shutil.which, NAMES)), "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the browser's tests out, with one line, where there is no browser."""
    if find_chromium():
        return
    for item in items:
        if "browser" in item.keywords:
            item.add_marker(
                pytest.mark.skip(reason="this machine has no Chromium; CHROMIUM=/path/to/it runs these tests")
            )


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of the browser."""
    return find_chromium()


@pytest.fixture(autouse=True)
def many_sign_ins(wide_limits: None, settings: pytest.FixtureRequest) -> None:
    """Let the pages be opened by more people a minute than one address may sign in; locking has limits of its own."""
    settings.RATE_LIMIT_OVERRIDES = {**settings.RATE_LIMIT_OVERRIDES, "sign_in": 1_000_000, "staff_sign_in": 1_000_000}  # type: ignore[attr-defined]
