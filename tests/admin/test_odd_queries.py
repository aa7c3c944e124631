"""What stands in the address of a list or an export is answered, never with a 500, and never gets into the log."""

import io
import json
from itertools import product

import pytest
from django.contrib import admin
from django.urls import reverse

from organizations.staff.tenant_admin import StaffAdmin, _filter_parameter
from tests.admin.people import act_in, signed_in, world
from tests.factories import Client
from tests.fhir_api.refusing import no_access_records

admin.autodiscover()
PAGES = sorted(admin.site._registry.values(), key=lambda page: page.opts.label)
ODD = ("\0", "-1", "9" * 30, "9999", "a,b,(")
EVERYWHERE = ("p", "o", "q", "foo", "_to_field")
STEP = 2 * len(ODD) + 1  # no multiple of their number: each step leads to another value
LOOKUPS = ("", "__exact", "__in", "__isnull", "__range", "__regex", "__id__exact")


@pytest.fixture(scope="module")
def browser() -> Client:
    chosen = signed_in()
    act_in(chosen, world().tenant)
    chosen.raise_request_exception = False
    return chosen


def names(page: StaffAdmin) -> list[str]:
    """The parameters that the page knows, and some that it does not."""
    filtered = [f"{_filter_parameter(one)}{lookup}" for one in page.list_filter for lookup in LOOKUPS]
    return [*EVERYWHERE, *filtered, f"{page.date_hierarchy}__year", f"{page.date_hierarchy}__day"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.opts.label)
def test_odd_query_is_no_500(page: StaffAdmin, browser: Client, long: bool) -> None:
    """Some of the questions on each page, others on the next; with --long all of them on each."""
    every = list(product(("changelist", "export"), names(page), ODD))
    chosen = every if long else every[PAGES.index(page) % STEP :: STEP]
    found = []
    for kind, name, value in chosen:
        address = reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_{kind}")
        if browser.get(address, {name: value}).status_code >= 500:
            found.append((kind, name, value[:20]))
    assert found == []


@pytest.mark.parametrize("path", ["/admin/login/?next=%00", "/admin/%00/", "/admin/?%00", "/oauth/login?next=a%00b"])
def test_nul_in_the_address_of_a_page_is_refused(path: str, browser: Client) -> None:
    assert browser.get(path).status_code == 400


@pytest.mark.parametrize("query", ["p=-1", "foo=1", "interaction__exact=%00"])
def test_export_of_what_the_list_cannot_be_filtered_by_is_refused(query: str, browser: Client) -> None:
    answer = browser.get(f"/admin/fhir_api/accessrecord/export/?{query}")
    assert (answer.status_code, "Content-Disposition" in answer.headers) == (400, False)
    assert browser.get("/admin/fhir_api/accessrecord/export/?interaction=read").status_code == 200


@pytest.mark.parametrize("page", [page for page in PAGES if page.date_hierarchy], ids=lambda page: page.opts.label)
def test_list_is_narrowed_by_its_dates(page: StaffAdmin, browser: Client) -> None:
    address = reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_changelist")
    when = {"year": 2026, "month": 1, "day": 31}
    assert (
        browser.get(address, {f"{page.date_hierarchy}__{part}": value for part, value in when.items()}).status_code
        == 200
    )


def told(lines: io.StringIO) -> list[dict[str, object]]:
    return [line for line in map(json.loads, lines.getvalue().splitlines()) if line["event"] != "request"]


@pytest.mark.parametrize("query", ["tenant_id=SECRET", "SECRET__SECRET__SECRET=1&tenant_id__SECRET=2"])
def test_refused_filter_is_told_without_its_query(query: str, browser: Client, lines: io.StringIO) -> None:
    assert browser.get(f"/admin/fhir_api/accessrecord/?{query}").status_code in (302, 400)
    assert "SECRET" not in lines.getvalue()
    assert [line["logger"] for line in told(lines)] == ["django.security.DisallowedModelAdminLookup"]


def test_refused_form_is_told_without_its_referer(lines: io.StringIO) -> None:
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post("/admin/login/", {}, secure=True, HTTP_REFERER="https://elsewhere.example/?q=SECRET")
    assert answer.status_code == 403
    assert [(line["logger"], line["event"]) for line in told(lines)] == [("django.security.csrf", "Forbidden (%s): %s")]
    assert "SECRET" not in lines.getvalue()


def test_fault_of_a_page_is_told_once_by_kind_and_frames(browser: Client, lines: io.StringIO) -> None:
    with no_access_records():
        answer = browser.get("/admin/fhir_api/resource/?q=SECRET")
    assert answer.status_code == 500
    (line,) = told(lines)
    assert (line["logger"], line["level"], line["event"]) == ("api.list_responses", "error", "unexpected error")
    assert line["request_id"] == answer.headers["X-Request-Id"]
    (first, *_) = line["exception"]  # type: ignore[misc]
    assert any("resources.py" in frame for frame in first["frames"])
    assert "SECRET" not in lines.getvalue()
    assert "the disk is full" not in lines.getvalue()
