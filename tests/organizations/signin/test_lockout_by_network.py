"""Wrong passwords lock an account for the network that they come from; a person's rate limit outlives a sign-in."""

import pytest

from organizations.actions import staff
from organizations.models import SignInFailure, User
from organizations.signin import lockout
from tests.factories import Api, Client, committed, member, provision
from tests.organizations.people import PASSWORD, new_person

HERE, THERE = "203.0.113.5", "198.51.100.7"


def sign_in(person, password=PASSWORD, address=HERE):
    api = Api()
    api.client = Client(raise_request_exception=False, REMOTE_ADDR=address)
    return api.post("/v1/auth/token", json={"email": person.email, "password": password})


def statuses(person, address, times=10):
    return [sign_in(person, f"guess {n}", address).status_code for n in range(times)]


def test_nobody_locks_another_out_from_elsewhere(person):
    assert statuses(person, THERE) == [401] * 8 + [429] * 2

    assert sign_in(person, address=HERE).status_code == 200
    assert sign_in(person, address=THERE).status_code == 429


def test_right_password_elsewhere_clears_no_count_here(person):
    statuses(person, THERE, 7)
    assert sign_in(person, address=HERE).status_code == 200

    assert statuses(person, THERE, 2) == [401, 429]


def test_addresses_of_one_ipv6_customer_are_one_network(person):
    found = [sign_in(person, "guess", f"2001:db8:0:1::{n}").status_code for n in range(1, 11)]

    assert found == [401] * 8 + [429] * 2
    assert sign_in(person, address="2001:db8:0:2::1").status_code == 200


def test_pages_of_sign_in_count_by_network_too(person):
    staffer = new_person(is_staff=True, staff_role="support")
    pages = ((person, "/oauth/login", "email"), (staffer, "/admin/login/", "username"))
    for who, path, name in pages:
        there, here = Client(REMOTE_ADDR=THERE), Client(REMOTE_ADDR=HERE)
        for n in range(9):
            locked = there.post(path, {name: who.email, "password": f"guess {n}"})
        assert "Too many" in locked.text or "Try again" in locked.text, path
        assert here.post(path, {name: who.email, "password": PASSWORD}).status_code == 302, path


def test_network_is_what_the_trusted_proxy_reports(person, settings):
    settings.TRUSTED_PROXY_COUNT = 1
    staffer = new_person(is_staff=True, staff_role="support")

    def page(address, password):
        browser = Client(REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": address})
        return browser.post("/admin/login/", {"username": staffer.email, "password": password})

    for n in range(9):
        page(THERE, f"guess {n}")

    assert page(THERE, PASSWORD).status_code == 200
    assert page(HERE, PASSWORD).status_code == 302


def test_staff_unlock_an_account_from_all_networks(person):
    statuses(person, THERE)
    statuses(person, HERE)

    assert committed(lambda: staff.unlock(user=person.user)) == 2
    assert [sign_in(person, address=one).status_code for one in (HERE, THERE)] == [200, 200]


def test_count_holds_neither_address_readably(person):
    statuses(person, THERE, 1)

    row = SignInFailure.objects.get(subject__startswith=lockout.subject_of("password", person.email))
    assert THERE not in row.subject
    assert person.email not in row.subject


@pytest.fixture
def few(settings):
    """Let three requests a minute pass."""
    settings.RATE_LIMIT_OVERRIDES = {**settings.RATE_LIMIT_OVERRIDES, "organizations": 3, "sign_in": 1_000}


def test_signing_in_again_gives_no_new_budget(person, few):
    tenant = provision("provider")
    member(tenant, ["tenant_admin"], person=User.objects.get(pk=person.user.pk))

    def session():
        return Api(token=person.sign_in().json()["access_token"], tenant=tenant)

    first = session()
    assert [first.get("/v1/memberships").status_code for _ in range(4)] == [200, 200, 200, 429]
    again = session()
    answer = again.get("/v1/memberships")

    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
    shown = again.get("/v1/production-onboarding/rate-limits").json()["data"]["policies"]
    assert [one["remaining"] for one in shown if one["name"] == "organizations"] == [0]


def test_two_people_of_one_tenant_have_a_budget_each(few):
    tenant = provision("provider")
    people = [new_person() for _ in range(2)]
    for one in people:
        member(tenant, ["tenant_admin"], person=one.user)
    clients = [Api(token=one.sign_in().json()["access_token"], tenant=tenant) for one in people]

    for _ in range(3):
        assert [api.get("/v1/memberships").status_code for api in clients] == [200, 200]
