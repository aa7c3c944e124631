"""One person at one browser window, for the tests of the admin's pages in a real browser."""

import os
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page

from organizations.models import Tenant, User
from tests.admin.people import PASSWORD, REASON

SHOTS = os.environ.get("ADMIN_SHOTS", "")


class Seat:
    """One person at one browser window; collects what the console complains of."""

    def __init__(
        self, browser: Browser, url: str, *, width: int = 1440, scheme: Literal["light", "dark"] = "light"
    ) -> None:
        self.context = browser.new_context(base_url=url, viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page: Page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.faults.append(f"{self.page.url}: {error}"))

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"{self.page.url}: {message.text}")

    def open(self, path: str) -> int:
        """Open an address and return the status."""
        answer = self.page.goto(path, wait_until="load")
        return answer.status if answer else 0

    def sign_in(self, person: User, password: str = PASSWORD) -> None:
        self.open("/admin/login/")
        self.page.fill("#id_username", person.email)
        self.page.fill("#id_password", password)
        self.page.click("#login-form button[type=submit]")
        self.page.wait_for_load_state("load")

    def act_in(self, tenant: Tenant) -> None:
        self.open(f"/admin/acting-tenant/?tenant={tenant.pk}")
        self.page.fill("#id_reason", REASON)
        self.page.click("#acting-form button[type=submit]")
        self.page.wait_for_load_state("load")

    def press(self, path: str, **fields: Any) -> None:
        """Open a button's page, fill the form in, send it."""
        assert self.open(path) == 200
        for name, value in {"reason": REASON, **fields}.items():
            self._fill(f"[name={name}]", value)
        self.page.click("#button-form button[type=submit]")
        self.page.wait_for_load_state("load")

    def _fill(self, selector: str, value: Any) -> None:
        field = self.page.locator(selector).first
        kind = field.evaluate("e => e.tagName + ':' + (e.type || '')")
        if kind.startswith("SELECT"):
            field.select_option(value)
        elif kind.endswith(":checkbox"):
            self.page.locator(f"{selector}[value='{value}']" if isinstance(value, str) else selector).first.check()
        else:
            field.fill(value)

    def shot(self, name: str) -> None:
        """Keep a picture where ADMIN_SHOTS says."""
        if SHOTS:
            self.page.wait_for_timeout(250)
            self.page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)
