"""Pages bear the names that the menu gives them, and times have seconds and a zone."""

import html
import re

import pytest
from django.contrib import admin
from django.urls import reverse
from django.utils import formats

from config.admin_site import titles
from core.clock import now
from tests.admin.people import act_in, signed_in, world

TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")


@pytest.fixture(scope="module")
def office():
    mine = world("Titles")
    browser = signed_in()
    act_in(browser, mine.tenant)
    return browser, mine


def lists():
    return [f"admin:{page.opts.app_label}_{page.opts.model_name}_changelist" for page in admin.site._registry.values()]


def test_menu_leads_to_every_list():
    assert {reverse(name) for name in lists()} <= titles().keys()


@pytest.mark.parametrize("name", lists())
def test_list_is_named_as_in_the_menu(office, name):
    browser, _ = office
    address = reverse(name)
    page = html.unescape(browser.get(address).content.decode())
    title = titles()[address]
    assert re.search(r"<title>\s*(.*?) \|", page, re.DOTALL)[1] == title
    path = re.search(r"<h1.*?</h1>", page, re.DOTALL)[0]
    assert title in path


def test_page_of_a_row_names_its_list_as_the_menu_does(office):
    browser, mine = office
    page = browser.get(reverse("admin:organizations_apikey_change", args=[mine.key.pk])).content.decode()
    assert "API keys" in re.search(r"<h1.*?</h1>", page, re.DOTALL)[0]


def test_times_have_seconds_and_a_zone(office):
    browser, mine = office
    assert re.fullmatch(r"[-\d]{10} \d\d:\d\d:\d\d UTC", formats.localize(now()))
    for address in (
        reverse("admin:organizations_apikey_change", args=[mine.key.pk]),
        reverse("admin:organizations_apikey_changelist"),
        reverse("admin:organizations_tenant_changelist"),
        reverse("admin:organizations_securitylogentry_changelist"),
    ):
        page = browser.get(address).content.decode()
        found = [page[hit.start() : hit.end() + 7] for hit in TIME.finditer(page)]
        assert found, address
        assert [one for one in found if not re.search(r":\d\d UTC$", one)] == []
