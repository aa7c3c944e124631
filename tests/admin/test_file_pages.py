"""Files in the admin: what staff see, and who scans again or rejects."""

import pytest

from core.clock import now
from core.db import tenant_context
from suppliers.files import scanning
from suppliers.files.models import File
from tests import factories
from tests.admin.people import REASON, act_in, signed_in, staff
from tests.suppliers.files.samples import objects, pdf, ready, sweep, upload, used

LIST = "/admin/suppliers/file/"


@pytest.fixture
def supplier():
    return factories.provision("supplier")


@pytest.fixture
def api(supplier):
    return factories.Api(key=factories.api_key(supplier), tenant=supplier)


def row(tenant, made):
    with tenant_context(tenant.id):
        return File.objects.get(tenant_id=tenant.id, pk=made["id"])


def browse(role, tenant):
    browser = signed_in(person=staff(role))
    act_in(browser, tenant)
    return browser


def test_list_shows_status_finding_size_and_purpose(api, supplier):
    made = ready(api, name="leaflet.png")
    page = browse("support", supplier).get(LIST).content.decode()
    for text in ("leaflet.png", "ready", str(made["size"]), "built_in", "Product Image"):
        assert text in page, text
    one = browse("support", supplier).get(f"{LIST}{made['id']}/change/").content.decode()
    assert made["sha256"] in one
    assert "Scan again" not in one


def test_staff_scan_again_and_reject_with_a_reason(api, supplier):
    made = ready(api)
    browser, page = browse("supply", supplier), f"{LIST}{made['id']}/"
    unexplained = browser.post(f"{page}do/reject/", {"reason": ""})
    assert unexplained.status_code == 200
    assert row(supplier, made).status == "ready"
    assert browser.post(f"{page}do/rescan/", {"reason": REASON}).status_code == 302
    assert row(supplier, made).status == "scanning"
    assert factories.Api().client.get(made["content_url"]).status_code == 404
    scanning.scan_files(at=now())
    assert row(supplier, made).status == "ready"
    assert browser.post(f"{page}do/reject/", {"reason": REASON}).status_code == 302
    found = row(supplier, made)
    assert (found.status, found.rejection_reason, found.object_key) == ("rejected", "staff", "")
    again = browser.post(f"{page}do/reject/", {"reason": REASON})
    assert "does not allow" in again.content.decode()
    sweep()
    assert (objects(supplier.id), used(supplier)) == (set(), 0)


def test_staff_are_told_that_a_file_is_evidence(supplier):
    api = factories.as_member(supplier, ["supplier_admin"])
    made = ready(api, pdf(), purpose="certificate", name="wda.pdf")
    license = {"type": "wholesale", "number": "WDA-1", "file_id": made["id"]}
    assert api.patch("/v1/suppliers/me", json={"licenses": [license]}).status_code == 200
    answer = browse("supply", supplier).post(f"{LIST}{made['id']}/do/reject/", {"reason": REASON})
    assert answer.status_code == 200
    assert "The file is evidence; it is bound to: license." in answer.content.decode()
    assert row(supplier, made).status == "ready"


@pytest.mark.parametrize("role", ["support", "finance"])
def test_other_roles_change_nothing(api, supplier, role):
    made = upload(api)
    answer = browse(role, supplier).post(f"{LIST}{made['id']}/do/reject/", {"reason": REASON})
    assert answer.status_code == 403
    assert row(supplier, made).status == "scanning"
