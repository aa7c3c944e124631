"""Whose request it is, before a thread looks."""

import pytest

from api.transport import CREDENTIAL, TENANT
from config.callers import Callers

ADDRESS = "198.51.100.7"


def environ(token="", tenant="", **proved):
    found = {"REMOTE_ADDR": ADDRESS, **proved}
    if token:
        found["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    if tenant:
        found["HTTP_X_TENANT_ID"] = tenant
    return found


@pytest.fixture
def callers():
    made = Callers()
    made.learn(environ("a", "t1", **{TENANT: "t1", CREDENTIAL: "session:a"}), 200)
    return made


def test_proved_credential_is_its_tenant(callers):
    assert callers.key_of(environ("a", "t1")) == "t1"


def test_credential_without_a_tenant_is_itself(callers):
    callers.learn(environ("a", **{CREDENTIAL: "session:a"}), 200)
    assert callers.key_of(environ("a")) == "session:a"


@pytest.mark.parametrize("unknown", [environ(), environ("b", "t1"), environ("a", "t2")])
def test_whoever_is_not_proved_is_his_address(callers, unknown):
    assert callers.key_of(unknown) == ADDRESS


def test_made_up_credential_is_never_learned(callers):
    callers.learn(environ("forged", "t1"), 401)
    assert callers.key_of(environ("forged", "t1")) == ADDRESS


@pytest.mark.parametrize(("status", "key"), [(401, ADDRESS), (403, ADDRESS), (503, "t1"), (429, "t1")])
def test_only_a_refused_credential_is_forgotten(callers, status, key):
    """Else a tenant whose requests are ended early would wait, and hold threads, as its address."""
    callers.learn(environ("a", "t1"), status)
    assert callers.key_of(environ("a", "t1")) == key


def test_no_credential_is_kept(callers):
    assert "Bearer a" not in repr(vars(callers))
