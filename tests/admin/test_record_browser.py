"""The pages of the clinical record in a real browser: they fit, complain of nothing, and lead from list to difference."""

import pytest
from playwright.sync_api import Browser

from tests.admin.people import staff
from tests.admin.seats import Seat
from tests.admin.test_export_pages import exported
from tests.admin.test_record_pages import Record, made

pytestmark = pytest.mark.browser


@pytest.fixture
def record(browser: Browser) -> Record:
    return made()


def test_pages_look_right_and_lead_to_a_difference(browser, live_server_url, record):
    seat = Seat(browser, live_server_url)
    seat.sign_in(staff())
    seat.act_in(record.tenant)
    base = "/admin/fhir_api/resource/"
    for name, path in (
        ("list", base),
        ("page", f"{base}{record.patient.pk}/change/"),
        ("deleted", f"{base}{record.deleted.pk}/change/"),
        ("version", f"{base}{record.patient.pk}/versions/3/"),
    ):
        assert seat.open(path) == 200
        for width, scheme in ((1440, "light"), (390, "dark")):
            seat.page.set_viewport_size({"width": width, "height": 900})
            seat.page.emulate_media(color_scheme=scheme)
            seat.shot(f"record-{name}-{scheme}-{width}")
            spill = seat.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert spill <= 0, f"{name} is wider than the window at {width}"
    seat.open(f"{base}{record.patient.pk}/change/")
    seat.page.locator(".resource-versions a").first.click()
    seat.page.wait_for_url("**/versions/3/")
    assert "Maria" in seat.page.inner_text(".configuration-diff")
    seat.context.close()
    assert seat.faults == []


def test_pages_of_exports_and_value_sets_look_right(browser, live_server_url):
    shown = exported()
    seat = Seat(browser, live_server_url)
    seat.sign_in(staff())
    seat.act_in(shown.tenant)
    for name, path in (
        ("exports", "exportjob/"),
        ("export", f"exportjob/{shown.job.pk}/change/"),
        ("value-sets", "valueset/"),
        ("value-set", f"valueset/{shown.value_set.pk}/change/"),
    ):
        assert seat.open(f"/admin/fhir_api/{path}") == 200
        for width, scheme in ((1440, "light"), (390, "dark")):
            seat.page.set_viewport_size({"width": width, "height": 900})
            seat.page.emulate_media(color_scheme=scheme)
            seat.shot(f"record-{name}-{scheme}-{width}")
            spill = seat.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert spill <= 0, f"{name} is wider than the window at {width}"
    seat.context.close()
    assert seat.faults == []
