"""Staff set up their second factor in the back-office: a QR code, its first code, and a sign-in that asks for it."""

import re
from datetime import timedelta

import pyotp
import pytest

from core.clock import now
from organizations.models import SecurityLogEntry, TotpDevice, User
from tests.admin.people import PASSWORD, REASON, signed_in, staff
from tests.factories import Client

PAGE = "/admin/second-factor/"


def secret_of(page):
    return re.search(r'id="secret">([A-Z2-7 ]+)<', page.text)[1].replace(" ", "")


def code(secret, steps=0):
    return pyotp.TOTP(secret).at(now() + timedelta(seconds=30 * steps))


def begin(browser, **data):
    return browser.post(PAGE, {"step": "begin", **data})


def confirm(browser, text):
    return browser.post(PAGE, {"step": "confirm", "code": text})


@pytest.fixture
def person():
    return staff("support")


@pytest.fixture
def browser(person):
    return signed_in(person=person)


def test_link_stands_in_the_account_menu(browser):
    assert PAGE in browser.get("/admin/").text


def test_qr_code_holds_the_secret_and_its_first_code_brings_it_into_force(browser, person):
    page = begin(browser)
    secret = secret_of(page)
    expected = pyotp.TOTP(secret).provisioning_uri(name=person.email, issuer_name="Healthcare Platform")

    from organizations.staff.second_factor import qr_code

    assert page.status_code == 200
    assert qr_code(expected) in page.text
    assert "no-store" in page.headers["Cache-Control"]
    assert TotpDevice.objects.get(user=person).sealed_secret is None
    assert confirm(browser, code(secret)).status_code == 302
    assert "is in force" in browser.get(PAGE).text
    assert SecurityLogEntry.objects.filter(code="second_factor_enrolled", subject=str(person.pk)).exists()

    without = Client().post("/admin/login/", {"username": person.email, "password": PASSWORD})
    withit = Client().post("/admin/login/", {"username": person.email, "password": PASSWORD, "code": code(secret, 1)})
    assert (without.status_code, withit.status_code) == (200, 302)


@pytest.mark.parametrize("wrong", ["", "12345", "abcdef", "000000"])
def test_wrong_first_code_brings_nothing_into_force(browser, person, wrong):
    begin(browser)

    answer = confirm(browser, wrong)

    assert answer.status_code == 400
    assert TotpDevice.objects.get(user=person).sealed_secret is None


def test_confirming_without_a_secret_is_refused(browser, person):
    assert confirm(browser, "123456").status_code == 400
    assert not TotpDevice.objects.filter(user=person).exists()


def test_replacing_takes_the_present_code(browser, person):
    present = secret_of(begin(browser))
    confirm(browser, code(present))
    TotpDevice.objects.filter(user=person).update(last_step=0)

    assert [begin(browser).status_code, begin(browser, code="000000").status_code] == [400, 400]
    assert TotpDevice.objects.get(user=person).sealed_pending is None
    fresh = secret_of(begin(browser, code=code(present)))
    assert confirm(browser, code(present, 1)).status_code == 400
    assert confirm(browser, code(fresh)).status_code == 302
    assert TotpDevice.objects.get(user=person).sealed_pending is None


def test_page_is_for_staff_that_is_signed_in():
    for answer in (Client().get(PAGE), Client().post(PAGE, {"step": "begin"})):
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/admin/login/")


def test_lost_device_is_removed_by_another_with_a_reason(browser, person):
    confirm(browser, code(secret_of(begin(browser))))
    path = f"/admin/organizations/user/{person.pk}/do/remove-second-factor/"
    security = signed_in("security")

    answer = security.post(path, {"reason": REASON})

    assert answer.status_code == 302, answer.content[-1500:]
    assert not TotpDevice.objects.filter(user=person).exists()
    assert User.objects.get(pk=person.pk).is_active
    assert signed_in(person=person)


def test_nobody_removes_the_own_second_factor():
    person = staff("security")
    browser = signed_in(person=person)
    confirm(browser, code(secret_of(begin(browser))))

    browser.post(f"/admin/organizations/user/{person.pk}/do/remove-second-factor/", {"reason": REASON})

    assert TotpDevice.objects.filter(user=person).exists()
