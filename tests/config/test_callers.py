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


def test_whoever_shows_nothing_is_his_address(callers):
    assert callers.key_of(environ()) == ADDRESS


def test_credential_that_is_not_proved_is_itself_whatever_tenant_it_names(callers):
    """Else it would work as its address, where others sign in."""
    keys = {callers.key_of(environ("b", tenant)) for tenant in ("", "t1", "t2")}
    assert len(keys) == 1
    assert not keys & {ADDRESS, "t1", "t2", callers.key_of(environ("c", "t1"))}


def test_made_up_credential_is_never_learned(callers):
    before = callers.key_of(environ("forged", "t1"))
    callers.learn(environ("forged", "t1"), 401)
    assert callers.key_of(environ("forged", "t1")) == before != "t1"


@pytest.mark.parametrize(("status", "kept"), [(401, False), (403, False), (503, True), (429, True)])
def test_only_a_refused_credential_is_forgotten(callers, status, kept):
    """Else a tenant whose requests are ended early would have further turns."""
    callers.learn(environ("a", "t1"), status)
    assert (callers.key_of(environ("a", "t1")) == "t1") is kept


def test_no_credential_is_kept(callers):
    assert "Bearer a" not in repr(vars(callers))
