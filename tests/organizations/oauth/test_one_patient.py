"""Asking for one patient's record: the person chooses whose on the page of consent, and every token of the session says it."""

import pytest

from organizations import tokens
from organizations.oauth.clients import UngrantableScope
from tests import factories
from tests.fhir_api.clients import Fhir, code_of, patient, prescriber
from tests.organizations.oauth.clients import (
    CALLBACK,
    Browser,
    application,
    machine,
    pkce,
    post,
    request_of,
    token,
    told,
)
from tests.organizations.oauth.flows import refreshed

SCOPES = ["openid", "offline_access", "launch/patient", "patient/*.rs", "locations.read"]
ASKED = " ".join(SCOPES)


@pytest.fixture(scope="module")
def clinic():
    return factories.provision("provider")


@pytest.fixture(scope="module")
def doctor(clinic):
    return prescriber(clinic)


@pytest.fixture(scope="module")
def client():
    return application(scopes=SCOPES)[0]


@pytest.fixture
def browser(person, clinic):
    factories.member(clinic, ["prescriber"], person=person.user)
    made = Browser()
    assert made.sign_in(person).status_code == 302
    return made


def answered(browser, client, challenge, **fields):
    path = "/oauth/authorize"
    page = browser.client.get(path, request_of(client, challenge, scope=ASKED))
    return browser.post_form(path, page, allow="true", **fields)


def granted(browser, client, **fields):
    verifier, challenge = pkce()
    code = told(answered(browser, client, challenge, **fields))["code"]
    form = {"code": code, "redirect_uri": CALLBACK, "code_verifier": verifier, "client_id": client.client_id}
    answer = token(grant_type="authorization_code", **form)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_page_asks_for_tenant_and_patient(browser, client, clinic):
    page = browser.client.get("/oauth/authorize", request_of(client, pkce()[1], scope=ASKED)).content.decode()
    assert clinic.name in page
    assert 'name="patient"' in page
    assert "See the record of one patient only, whom you choose." in page
    other = browser.client.get("/oauth/authorize", request_of(client, pkce()[1], scope="openid")).content.decode()
    assert 'name="patient"' not in other


def test_tokens_say_whose_record_they_reach(browser, client, clinic, doctor):
    own, other = (doctor.made(patient())["id"] for _ in range(2))
    answer = granted(browser, client, tenant=str(clinic.id), patient=own)
    assert answer["patient"] == own
    again = refreshed(client, answer["refresh_token"]).json()
    assert again["patient"] == own
    for access_token in (answer["access_token"], again["access_token"]):
        claims = tokens.verify(access_token)
        assert (claims.patient, claims.tid) == (own, clinic.id)
        api = Fhir(access_token)
        assert api.get(f"/Patient/{own}").status_code == 200
        assert api.get(f"/Patient/{other}").status_code == 404
        assert factories.Api(token=access_token).get("/v1/locations").status_code == 403


def test_introspection_tells_the_patient(browser, clinic, doctor):
    client, secret = application(scopes=SCOPES, confidential=True)
    verifier, challenge = pkce()
    code = told(answered(browser, client, challenge, tenant=str(clinic.id), patient="p-1"))["code"]
    known = {"client_id": client.client_id, "client_secret": secret}
    form = {"code": code, "redirect_uri": CALLBACK, "code_verifier": verifier, **known}
    given = token(grant_type="authorization_code", **form).json()["access_token"]
    facts = post("/oauth/introspect", token=given, **known).json()
    assert (facts["patient"], facts["tid"]) == ("p-1", str(clinic.id))


@pytest.mark.parametrize("chosen", ["", "a b", "x" * 65, "ä", "a/b"])
def test_without_a_patient_nothing_is_given(browser, client, clinic, chosen):
    answer = answered(browser, client, pkce()[1], tenant=str(clinic.id), patient=chosen)
    assert answer.status_code == 400
    assert "Ward app" in answer.content.decode()
    assert 'role="alert"' in answer.content.decode()


def test_another_tenant_is_no_choice(browser, client):
    strange = factories.provision("provider")
    answer = answered(browser, client, pkce()[1], tenant=str(strange.id), patient="p-1")
    assert answer.status_code == 400
    assert strange.name not in answer.content.decode()


def test_refusing_needs_no_choice(browser, client):
    page = browser.client.get("/oauth/authorize", request_of(client, pkce()[1], scope=ASKED))
    assert told(browser.post_form("/oauth/authorize", page))["error"] == "access_denied"


def test_changed_form_is_refused(browser, client, clinic):
    answer = answered(browser, client, pkce()[1], tenant=str(clinic.id), patient="p-1", client_id="")
    assert answer.status_code == 400
    assert "start again" in answer.content.decode()


def test_machines_have_no_patient():
    for scope in ("launch/patient", "patient/*.rs"):
        with pytest.raises(UngrantableScope):
            machine(scopes=[scope])


def test_token_with_a_patient_and_no_tenant_is_none_of_ours(person):
    with pytest.raises(ValueError, match="a token with a patient must name a tenant"):
        factories.bearer(person.user, patient="p-1")


def test_refused_outside_the_record(doctor, clinic):
    someone, _ = factories.member(clinic, ["tenant_admin"])
    api = Fhir(factories.bearer(someone, scopes="patient/*.rs", tenant=clinic, patient="p-1"))
    assert code_of(api.get("/Patient/p-1")) == "insufficient_scope"
