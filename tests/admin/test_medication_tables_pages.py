"""Tables of medications in the admin: differences are shown before a load, which needs a reason."""

import re
from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from prescriptions.models import (
    TenantTableVersion,
)
from tests import factories
from tests.admin.dispensary import PREFIX, cell_texts, facts, page
from tests.admin.people import REASON, act_in, signed_in, staff

# -- tables of medications ---------------------------------------------------------------------------------------------

HEADER = "a,b,severity,text,source\n"
LOAD = f"{PREFIX}/tenanttableversion/load/"


def upload(browser, text, table="interactions"):
    file = SimpleUploadedFile("own.csv", text if isinstance(text, bytes) else text.encode(), "text/csv")
    return browser.post(LOAD, {"table": table, "file": file})


def sealed(answer):
    return re.search(r'name="shown" value="([^"]+)"', answer.content.decode())[1]


@pytest.fixture
def loader():
    person, tenant = staff(), factories.provision("provider")
    browser = signed_in(person=person)
    act_in(browser, tenant)
    return SimpleNamespace(person=person, tenant=tenant, browser=browser)


def versions(tenant):
    rows = TenantTableVersion.objects.using("platform").filter(tenant_id=tenant.id).order_by("number")
    return [(row.table, row.number, row.added, row.changed, row.removed, row.source) for row in rows]


def test_table_is_shown_then_loaded_with_a_reason(loader):
    first = upload(loader.browser, HEADER + "warfarin,kale,high,Vitamin K,own\nwarfarin,beer,low,,own\n")
    assert "2 rows; 2 added, 0 changed, 0 removed, compared with an empty table" in first.content.decode()
    assert versions(loader.tenant) == []
    answer = loader.browser.post(LOAD, {"shown": sealed(first), "reason": "no"})
    assert (answer.status_code, versions(loader.tenant)) == (200, [])
    assert loader.browser.post(LOAD, {"shown": sealed(first), "reason": REASON}).status_code == 302

    second = upload(loader.browser, HEADER + "warfarin,kale,moderate,Vitamin K,own\nwarfarin,tea,low,,own\n")
    text = second.content.decode()
    assert "1 added, 1 changed, 1 removed, compared with version 1" in text
    assert cell_texts(text, "differences")[0] != ["+ added", "kale; warfarin", "severity"]
    assert sorted(row[0] for row in cell_texts(text, "differences")) == ["+ added", "~ changed", "− removed"]
    assert [row[2] for row in cell_texts(text, "differences") if row[0] == "~ changed"] == ["severity"]
    done_page = loader.browser.post(LOAD, {"shown": sealed(second), "reason": REASON}, follow=True)
    assert "Interactions: version 2 is loaded." in done_page.content.decode()
    assert versions(loader.tenant) == [
        ("interactions", 1, 2, 0, 0, "own.csv"),
        ("interactions", 2, 1, 1, 1, "own.csv"),
    ]
    assert facts(loader.person) == [("staff_action.performed", "tenanttableversion.load", REASON)] * 2


def test_table_that_moved_meanwhile_is_not_overwritten(loader):
    seen_first = upload(loader.browser, HEADER + "warfarin,kale,high,,own\n")
    other = upload(loader.browser, HEADER + "warfarin,tea,high,,own\n")
    assert loader.browser.post(LOAD, {"shown": sealed(other), "reason": REASON}).status_code == 302
    answer = loader.browser.post(LOAD, {"shown": sealed(seen_first), "reason": REASON})
    assert "loaded meanwhile" in answer.content.decode()
    assert [row[:2] for row in versions(loader.tenant)] == [("interactions", 1)]


def test_what_was_shown_in_another_tenant_or_is_forged_is_refused(loader):
    shown = sealed(upload(loader.browser, HEADER + "warfarin,kale,high,,own\n"))
    elsewhere = factories.provision("provider")
    act_in(loader.browser, elsewhere)
    for seal in (shown, shown[:-3] + "abc", "x"):
        answer = loader.browser.post(LOAD, {"shown": seal, "reason": REASON})
        assert "upload the file again" in answer.content.decode()
    assert versions(elsewhere) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n", "The columns must be a, b, severity, text, source."),
        (HEADER + "warfarin,kale,awful,,own\n", "line 2, severity"),
        (HEADER.encode() + b"warfarin,\xff,high,,own\n", "not UTF-8"),
        ("", "The submitted file is empty."),
        (HEADER + "x" * 2_000_001, "import_clinical_tables"),
    ],
)
def test_file_with_faults_is_refused_with_their_lines(loader, text, told):
    answer = upload(loader.browser, text)
    assert answer.status_code == 200
    assert told in answer.content.decode()
    assert b'name="shown"' not in answer.content


def test_equal_file_offers_nothing_to_load(loader):
    text = HEADER + "warfarin,kale,high,,own\n"
    loader.browser.post(LOAD, {"shown": sealed(upload(loader.browser, text)), "reason": REASON})
    answer = upload(loader.browser, text).content.decode()
    assert "The file says what the table says." in answer
    assert 'id="apply-form"' not in answer


def test_loading_needs_the_permission_and_an_acting_tenant(loader):
    security = signed_in("security")
    act_in(security, loader.tenant)
    assert security.get(LOAD).status_code == 403
    assert upload(security, HEADER).status_code == 403
    assert signed_in().get(LOAD).status_code == 302
    assert loader.browser.get(LOAD).status_code == 200


def test_versions_of_the_platforms_tables_are_shown():
    text = page(signed_in(), "platformtableversion/")
    assert "medications" in text
    assert "interactions" in text
