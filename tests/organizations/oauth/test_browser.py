"""Sign-in and consent in a real browser: CSRF, cookies, the content policy and the way back to the client."""

import os
import shutil
from pathlib import Path
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from tests.organizations.oauth.clients import CALLBACK, application, pkce, request_of


@pytest.fixture(scope="module")
def chromium():
    """Start Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if not path:
        pytest.fail("No Chromium: set CHROMIUM to its path, or leave these tests out with -m 'not browser'.")
    # Playwright keeps an event loop in this thread, in which Django would refuse to touch the database.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as driver:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        found = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.mark.browser
def test_a_person_signs_in_consents_and_goes_back_to_the_client(chromium, live_server_url, person):
    client, _ = application()
    page = chromium.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.route(f"{CALLBACK}**", lambda route: route.fulfill(status=200, body="back at the client"))
    page.goto(f"{live_server_url}/oauth/authorize?{urlencode(request_of(client, pkce()[1]))}")

    page.get_by_label("E-mail address").fill(person.email)
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    assert "wrong" in page.get_by_role("alert").inner_text()
    _shot(page, "sign-in-refused")
    complaints.clear()  # the browser counts the 400 of the wrong password as one
    page.get_by_label("Password").fill(person.password)
    page.get_by_role("button", name="Sign in").click()
    assert page.get_by_role("heading").inner_text() == "Allow Ward app to act for you?"
    _shot(page, "consent")
    assert [one["id"] for one in Axe().run(page).response["violations"]] == []
    page.get_by_role("button", name="Allow", exact=True).click()
    page.wait_for_url(f"{CALLBACK}**")

    assert "code=" in page.url
    assert "iss=" in page.url
    assert complaints == []
    page.close()


def _shot(page, name):
    if folder := os.environ.get("ADMIN_SHOTS"):
        page.screenshot(path=Path(folder) / f"oauth-{name}.png", full_page=True)
