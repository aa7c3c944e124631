"""Finds a Chromium for the tests of pages in a browser."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

SIGN_INS = {"sign_in": 1_000_000, "staff_sign_in": 1_000_000}
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


@pytest.fixture(scope="module", autouse=True)
def many_sign_ins_of_modules() -> Iterator[None]:
    """The same for what a module's own fixtures sign in, before those of a test are there."""
    from django.conf import settings

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "RATE_LIMIT_OVERRIDES", SIGN_INS)
        yield


@pytest.fixture(autouse=True)
def many_sign_ins(wide_limits: None, settings: pytest.FixtureRequest) -> None:
    """Let the pages be opened by more people a minute than one address may sign in; locking has limits of its own."""
    settings.RATE_LIMIT_OVERRIDES = settings.RATE_LIMIT_OVERRIDES | SIGN_INS  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    """Run a browser."""
    from playwright.sync_api import sync_playwright

    # Playwright keeps an event loop in this thread, in which Django would refuse to touch the database.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as driver:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        found = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def seat(browser: Any, live_server_url: str) -> Iterator[Any]:
    """Open one window."""
    from tests.admin.seats import Seat

    made = Seat(browser, live_server_url)
    yield made
    made.context.close()
