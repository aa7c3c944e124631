"""What the authenticator says of a caller beside its rights: how a person signed in, and where the request came from."""

from datetime import timedelta

import pyotp
import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from core import pipeline
from core.actor import NOWHERE, Origin, system_actor
from core.clock import now
from core.ids import uuid7
from organizations.authentication import Authenticator
from organizations.models import SignInSession
from organizations.origins import USER_AGENT_LENGTH
from organizations.staff.audit import staff_actor
from tests.factories import Api, api_key, bearer, member, provision
from tests.organizations.oauth.clients import application
from tests.organizations.oauth.flows import exchange_code, new_code, refreshed


def _request(**headers):
    return RequestFactory().get("/v1/me", REMOTE_ADDR="198.51.100.7", **headers)


def _subject(*, token="", key=""):
    credential = {"HTTP_X_API_KEY": key} if key else {"HTTP_AUTHORIZATION": f"Bearer {token}"}
    return Authenticator().subject(_request(**credential))


def _actor(tenant, **headers):
    person, _ = member(tenant)
    authenticator, request = Authenticator(), _request(HTTP_AUTHORIZATION=f"Bearer {bearer(person)}", **headers)
    subject = authenticator.subject(request)
    (proof,) = pipeline.run([authenticator.proof(subject, tenant.id)])
    return authenticator.actor(subject, tenant.id, proof, request, writing=False)


def _says(given):
    subject = _subject(token=given["access_token"])
    return subject.acr, subject.amr


def test_methods_of_a_sign_in_reach_the_subject_and_rise_with_the_second_factor(person):
    given = person.sign_in().json()
    api = Api(token=given["access_token"])
    secret = api.post("/v1/auth/mfa/enroll").json()["data"]["secret"]

    raised = api.post("/v1/auth/mfa/verify", json={"code": pyotp.TOTP(secret).now()}).json()["data"]

    assert _says(given) == ("password", ("pwd",))
    assert _says(raised) == ("mfa", ("pwd", "otp"))
    again = Api().post("/v1/auth/token/refresh", json={"refresh_token": given["refresh_token"]})
    assert _says(again.json()) == ("mfa", ("pwd", "otp"))
    session = SignInSession.objects.get(pk=_subject(token=raised["access_token"]).session_id)
    assert session.amr == ["pwd", "otp"]
    assert now() - _subject(token=raised["access_token"]).authenticated_at < timedelta(minutes=1)


def test_methods_of_a_sign_in_reach_the_subject_through_an_oauth_client_too(person):
    client, _ = application()
    given = exchange_code(client, *new_code(person, client)).json()

    assert _says(given) == ("password", ("pwd",))
    assert _says(refreshed(client, given["refresh_token"]).json()) == ("password", ("pwd",))


def test_machines_have_no_methods_of_a_sign_in():
    tenant = provision("supplier")
    key = _subject(key=api_key(tenant))

    assert (key.acr, key.amr, key.authenticated_at) == ("", (), None)


def test_origin_of_an_actor_is_the_address_and_the_user_agent_of_its_request():
    tenant = provision()

    assert _actor(tenant, HTTP_USER_AGENT="Ward/1.0").origin == Origin("198.51.100.7", "Ward/1.0")
    assert _actor(tenant).origin == Origin("198.51.100.7", "")


@pytest.mark.parametrize(
    ("sent", "kept"), [("a" * 1000, "a" * USER_AGENT_LENGTH), ("Ward\x00/\x1b[31m1", "Ward/[31m1")]
)
def test_user_agent_is_cut_and_holds_printable_characters_only(sent, kept):
    assert _actor(provision(), HTTP_USER_AGENT=sent).origin.user_agent == kept


def test_origin_stands_with_every_tenant_of_a_subject():
    first, second = provision(), provision()
    person, _ = member(first)
    member(second, person=person)
    authenticator = Authenticator()
    request = _request(HTTP_AUTHORIZATION=f"Bearer {bearer(person)}", HTTP_USER_AGENT="Ward/1.0")

    actors = authenticator.reach(authenticator.subject(request), request)

    assert {actor.tenant_id for actor in actors} == {first.id, second.id}
    assert {actor.origin for actor in actors} == {Origin("198.51.100.7", "Ward/1.0")}


def test_origin_behind_a_trusted_proxy_is_the_clients_address():
    request = _request(HTTP_USER_AGENT="Ward/1.0")
    request.client_address = "203.0.113.9"  # as the outermost middleware found it
    request.user = AnonymousUser()
    request.user.pk = uuid7()

    assert staff_actor(request).origin == Origin("203.0.113.9", "Ward/1.0")


def test_platform_acts_from_nowhere():
    assert system_actor(uuid7()).origin == NOWHERE == Origin("", "")
