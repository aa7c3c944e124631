"""The pages: sign-in, consent, links from mails. A browser that keeps cookies and minds CSRF walks them."""

import re
from datetime import timedelta
from urllib.parse import urlencode

import jwt
import pyotp
import pytest
from django.core import mail
from django.db import transaction

from core.clock import now
from organizations.models import Membership, User
from organizations.signin import invitations, totp
from organizations.signin.tasks import send_mails
from tests.factories import Client, provision, suffix
from tests.organizations.oauth.clients import CALLBACK, Browser, application, pkce, request_of, token, told


@pytest.fixture
def client():
    """Register a public client."""
    return application()[0]


@pytest.fixture
def browser(person):
    """Return a browser in which somebody is signed in."""
    made = Browser()
    assert made.sign_in(person).status_code == 302
    return made


def _ask(browser, client, **changes):
    return browser.client.get("/oauth/authorize", request_of(client, pkce()[1], **changes))


def test_consent_names_client_person_and_scopes(browser, client, person):
    page = _ask(browser, client)

    text = page.content.decode()
    assert page.status_code == 200
    assert "Ward app" in text
    assert person.email in text
    assert "Read locations." in text
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["Referrer-Policy"] == "same-origin"
    assert page.headers["X-Frame-Options"] == "DENY"


def test_allowing_gives_a_code_with_state_and_issuer(browser, client):
    answer = browser.authorize(request_of(client, pkce()[1]))

    assert sorted(answer) == ["code", "iss", "state"]
    assert (answer["state"], answer["iss"]) == ("st-1", "http://testserver/oauth")


def test_refusing_tells_the_client_so(browser, client):
    answer = browser.authorize(request_of(client, pkce()[1]), allow=False)

    assert (answer["error"], answer["state"]) == ("access_denied", "st-1")


def test_consent_is_asked_every_time(browser, client):
    browser.authorize(request_of(client, pkce()[1]))

    assert _ask(browser, client).status_code == 200
    assert _ask(browser, client, approval_prompt="auto").status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"code_challenge": ""}, {"code_challenge_method": "plain"}, {"code_challenge_method": ""}, {"code_challenge": "short"},
        {"code_challenge": "x" * 43 + "!"}, {"response_type": "token"}, {"response_type": "id_token"}, {"response_type": "code token"},
        {"response_type": "none"}, {"scope": "nonsense"}, {"scope": ""}, {"scope": "openid locations.write"}, {"scope": "*"},
    ],
    ids=str,
)  # fmt: skip
def test_requests_that_are_no_good_go_back_to_the_client(browser, client, changes):
    page = _ask(browser, client, **changes)

    answer = told(page)
    assert page.status_code == 302
    assert answer["error"] in ("invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope")
    assert answer["state"] == "st-1"
    assert "code" not in answer


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "unknown"}, {"client_id": "\x00"}, {"client_id": ""}, {"client_id": "x" * 300},
        {"redirect_uri": "https://evil.example/callback"}, {"redirect_uri": CALLBACK + "/more"}, {"redirect_uri": CALLBACK + "?a=b"},
        {"redirect_uri": CALLBACK + "#f"}, {"redirect_uri": "https://x@app.example/callback"}, {"redirect_uri": "http://app.example/callback"},
        {"redirect_uri": "javascript:alert(1)"}, {"redirect_uri": "//app.example/callback"}, {"redirect_uri": "https://app.example:8443/callback"},
        {"redirect_uri": "https://APP.example.evil.example/callback"}, {"state": "\x00"}, {"nonce": "n" * 300}, {"scope": "x" * 9000},
    ],
    ids=lambda changes: str(changes)[:60],
)  # fmt: skip
def test_requests_of_unknown_origin_are_shown_and_never_redirected(browser, client, changes):
    page = _ask(browser, client, **changes)

    assert page.status_code == 400
    assert "Location" not in page.headers
    assert "evil.example" not in page.content.decode()


def test_repeated_parameters_are_refused(browser, client):
    query = urlencode(request_of(client, pkce()[1]))

    assert browser.client.get(f"/oauth/authorize?{query}&redirect_uri=https%3A%2F%2Fevil.example").status_code == 400


@pytest.mark.parametrize("query", ["%", "%zz", "=", "a", "&&&", "%00=%00", "client_id=%ff%fe", "client_id[]=1"])
def test_hostile_queries_are_refused(browser, query):
    assert browser.client.get(f"/oauth/authorize?{query}").status_code == 400


def test_hidden_fields_that_were_changed_are_judged_again(browser, client):
    path = f"/oauth/authorize?{urlencode(request_of(client, pkce()[1]))}"
    page = browser.client.get(path)

    elsewhere = browser.post_form(path, page, allow="true", redirect_uri="https://evil.example/")
    wider = browser.post_form(path, page, allow="true", scope="openid locations.write")
    unknown = browser.post_form(path, page, allow="true", client_id="unknown")
    plain = browser.post_form(path, page, allow="true", code_challenge_method="plain")

    assert (elsewhere.status_code, unknown.status_code) == (400, 400)
    assert told(wider)["error"] == "invalid_scope"
    assert told(plain)["error"] == "invalid_request"


def test_a_form_without_its_token_is_refused(browser, client):
    path = f"/oauth/authorize?{urlencode(request_of(client, pkce()[1]))}"

    assert browser.client.post(path, {**request_of(client, pkce()[1]), "allow": "true"}).status_code == 403


def test_strangers_sign_in_first_and_come_back(person, client):
    browser = Browser()
    page = _ask(browser, client)
    assert page.status_code == 302
    assert page.headers["Location"].startswith("/oauth/login?next=")

    back = browser.sign_in(person, back_to=f"/oauth/authorize?{urlencode(request_of(client, pkce()[1]))}")

    assert browser.client.get(back.headers["Location"]).status_code == 200


def test_prompt_none_of_a_stranger_tells_the_client(client):
    page = _ask(Browser(), client, prompt="none")

    assert told(page)["error"] == "login_required"


def test_prompt_none_never_skips_consent(browser, client):
    assert told(_ask(browser, client, prompt="none"))["error"] == "consent_required"


def test_prompt_login_asks_again(browser, client):
    page = _ask(browser, client, prompt="login")

    assert page.headers["Location"].startswith("/oauth/login?next=")
    assert "prompt" not in page.headers["Location"]


def test_max_age_asks_again_when_the_sign_in_is_old(browser, client):
    session = browser.client.session
    session["sign_in_proof"] = {"acr": "password", "amr": ["pwd"], "at": (now() - timedelta(minutes=10)).timestamp()}
    session.save()

    assert _ask(browser, client, max_age="300").headers["Location"].startswith("/oauth/login?next=")
    assert _ask(browser, client, max_age="900").status_code == 200
    assert _ask(browser, client, max_age="x" * 50).status_code == 200


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "http:evil.example"],
)
def test_signing_in_never_leads_elsewhere(person, elsewhere):
    answer = Browser().sign_in(person, back_to=elsewhere)

    assert answer.headers["Location"] == "/oauth/login/done"


def test_page_with_a_nul_in_the_address_is_refused():
    assert Browser().client.get("/oauth/login?next=%00").status_code == 400


def test_wrong_passwords_are_told_and_lock_the_account(person):
    browser = Browser()

    statuses = [browser.sign_in(person, password=f"guess {n}").status_code for n in range(8)]
    locked = browser.sign_in(person)

    assert statuses == [400] * 8
    assert "Try again in" in locked.content.decode()
    assert "correct horse" not in locked.content.decode()


def _enroll(person):
    with transaction.atomic():
        secret, _ = totp.enroll(person.user, may_replace=True, at=now())
    totp.prove(person.user.id, code=pyotp.TOTP(secret).at(now() - timedelta(seconds=30)), at=now(), first_use=True)
    return secret


def test_a_second_factor_is_demanded_of_those_who_have_one(person, client):
    secret, browser = _enroll(person), Browser()

    without = browser.sign_in(person)
    wrong = browser.sign_in(person, code="000000")
    right = browser.sign_in(person, code=pyotp.TOTP(secret).now())

    assert (without.status_code, wrong.status_code, right.status_code) == (400, 400, 302)
    verifier, challenge = pkce()
    code = browser.authorize(request_of(client, challenge))["code"]
    given = token(
        grant_type="authorization_code",
        code=code,
        redirect_uri=CALLBACK,
        code_verifier=verifier,
        client_id=client.client_id,
    ).json()
    claims = jwt.decode(given["access_token"], options={"verify_signature": False})
    assert (claims["acr"], claims["amr"]) == ("mfa", ["pwd", "otp"])


def test_a_client_that_wants_the_second_factor_has_the_person_asked(browser, client, person):
    assert _ask(browser, client, acr_values="mfa").status_code == 200
    _enroll(person)

    assert _ask(browser, client, acr_values="mfa").headers["Location"].startswith("/oauth/login?next=")


def test_signing_out_ends_the_browsers_session(browser, client):
    page = browser.client.get("/oauth/logout")

    assert browser.post_form("/oauth/logout", page).status_code == 200
    assert _ask(browser, client).status_code == 302


def test_a_deactivated_person_is_a_stranger(browser, client, person):
    person.user.is_active = False
    person.user.save(update_fields=["is_active"])

    assert _ask(browser, client).status_code == 302


def test_the_link_of_an_invitation_leads_to_a_page_that_works():
    membership = Membership(tenant=provision("provider"), user=User.objects.create_user(f"i-{suffix()}@example.org"))
    membership.save()
    with transaction.atomic():
        link = invitations.link(invitations.issue(membership=membership, at=now())).removeprefix("http://testserver")
    browser = Browser()
    page = browser.client.get(link)

    weak = browser.post_form(link, page, password="short", name="Cy")
    done = browser.post_form(link, page, password="a sentence that is long enough", name="Cy")

    assert weak.status_code == 400
    assert "too short" in weak.content.decode()
    assert "You are a member now" in done.content.decode()
    membership.refresh_from_db()
    assert membership.status == "active"


def test_the_link_of_a_password_mail_leads_to_a_page_that_works(person):
    Client().post("/v1/auth/password/reset", {"email": person.email}, content_type="application/json")
    send_mails()
    body = next(message.body for message in mail.outbox if message.to == [person.email])
    link = re.search(r"http://testserver(\S+)", body)[1]
    browser = Browser()

    done = browser.post_form(link, browser.client.get(link), password="yet another long sentence")

    assert "Your password is set" in done.content.decode()
    assert browser.sign_in(person).status_code == 400
    assert browser.sign_in(person, password="yet another long sentence").status_code == 302
