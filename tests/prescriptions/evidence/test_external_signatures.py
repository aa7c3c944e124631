"""Signatures by a prescriber's own key: which are taken, which are refused and why, and what verification says later."""

from datetime import UTC, datetime, timedelta

import pytest

from prescriptions.evidence.external_signatures import (
    ExternalSignatureMismatch,
    ExternalSignatureUntrusted,
    demand_external,
)
from tests.prescriptions.evidence.certificates import KEYS, detached, issue, with_header
from tests.prescriptions.ward import done, refused

LICENCE = "L-4711"
TEXT = '{"content":{"name":"Zoë"},"schema":"hp.prescription.snapshot/1"}'
NOW = datetime.now(UTC)

root = issue("Root of physicians", ca=True)
between = issue("Cards of physicians", root, ca=True)
doctor = issue("Ada Arzt", between, licence=LICENCE)


def take(jws, *, text=TEXT, roots=(root.pem,), licence=LICENCE, at=NOW):
    demand_external(jws, text, roots, licence, at)


@pytest.mark.parametrize("algorithm", KEYS)
def test_each_algorithm_is_taken_with_its_own_kind_of_key(algorithm):
    signer = issue("Ada Arzt", between, key=KEYS[algorithm](), licence=LICENCE)
    take(detached(TEXT, signer, between, algorithm=algorithm))
    with pytest.raises(ExternalSignatureMismatch):
        take(detached(TEXT, signer, between, algorithm=algorithm), text=TEXT + " ")


def test_root_may_come_along_and_one_of_several_is_enough():
    other = issue("Other root", ca=True)
    take(detached(TEXT, doctor, between, root), roots=(other.pem, root.pem))
    take(detached(TEXT, doctor, between), roots=(between.pem,))


def test_address_in_the_header_is_not_asked():
    take(detached(TEXT, doctor, between, jku="http://127.0.0.1:1/keys", x5u="http://127.0.0.1:1/x5u"))


def wrong():
    """What must be refused as untrusted, by name."""
    good = detached(TEXT, doctor, between)
    strange = issue("Strange root", ca=True)
    fake = issue("Cards of physicians", strange, ca=True)
    small = issue("Ada Arzt", between, licence=LICENCE, key=KEYS["ES384"]())
    no_authority = issue("Ada Arzt", issue("A person", between, licence="x"), licence=LICENCE)
    person = issue("A person", between, licence="x")
    return {
        "nothing": "",
        "attached": good.replace("..", ".e30."),
        "rubbish": "a..b",
        "none": with_header(good, alg="none"),
        "hs256": with_header(good, alg="HS256"),
        "es512": with_header(good, alg="ES512"),
        "without certificates": with_header(good, x5c=None),
        "no certificates": with_header(good, x5c=[]),
        "too many": with_header(good, x5c=[doctor.der] * 7),
        "no certificate": with_header(good, x5c=["AAAA"]),
        "a number": with_header(good, x5c=[1]),
        "b64": with_header(good, b64=False),
        "crit": with_header(good, crit=["exp"]),
        "self-signed": detached(TEXT, issue("Ada Arzt", licence=LICENCE)),
        "strange root": detached(TEXT, issue("Ada Arzt", fake, licence=LICENCE), fake, strange),
        "no path": detached(TEXT, doctor),
        "issuer is a person": detached(TEXT, issue("Ada Arzt", person, licence=LICENCE), person, between),
        "issuer left out": detached(TEXT, no_authority, between),
        "expired": detached(TEXT, issue("Ada Arzt", between, licence=LICENCE, days=(-30, -1)), between),
        "not yet": detached(TEXT, issue("Ada Arzt", between, licence=LICENCE, days=(1, 30)), between),
        "not for signatures": detached(TEXT, issue("Ada Arzt", between, licence=LICENCE, signs=False), between),
        "an authority": detached(TEXT, issue("Ada Arzt", between, licence=LICENCE, ca=True), between),
        "other licence": detached(TEXT, issue("Ada Arzt", between, licence="L-4712"), between),
        "no licence": detached(TEXT, issue("Ada Arzt", between), between),
        "key of another kind": with_header(detached(TEXT, small, between, algorithm="ES384"), alg="ES256"),
    }


@pytest.mark.parametrize(("name", "jws"), wrong().items(), ids=wrong())
def test_untrusted(name, jws):
    with pytest.raises(ExternalSignatureUntrusted):
        take(jws)


def test_issuer_that_may_not_have_one_below_it():
    narrow = issue("Narrow root", ca=True, path_length=0)
    below = issue("Below", narrow, ca=True)
    with pytest.raises(ExternalSignatureUntrusted):
        take(detached(TEXT, issue("Ada Arzt", below, licence=LICENCE), below), roots=(narrow.pem,))


def test_untrusted_without_roots_without_a_licence_and_at_another_time():
    good = detached(TEXT, doctor, between)
    for terms in ({"roots": ()}, {"licence": None}, {"licence": ""}, {"at": NOW + timedelta(days=60)}):
        with pytest.raises(ExternalSignatureUntrusted):
            take(good, **terms)


def test_mismatch_where_the_signature_is_anothers():
    other = issue("Ada Arzt", between, licence=LICENCE)
    stolen = detached(TEXT, other, between).rpartition(".")[2]
    with pytest.raises(ExternalSignatureMismatch):
        take(f"{detached(TEXT, doctor, between).rpartition('.')[0]}.{stolen}")


# -- over HTTP ---------------------------------------------------------------------------------------------------------


def test_prescriber_signs_with_a_key_of_ones_own(ward):
    ward.clinic.policies(external_signing_roots=[root.pem])
    one = ward.draft()
    ward.act(one, "validate")
    path = f"/v1/prescriptions/{one['id']}"
    payload = done(ward.prescriber.get(f"{path}/signing-payload"))
    good = detached(payload["text"], doctor, between)
    before = done(ward.prescriber.get(path))
    for jws, code in (
        (with_header(good, alg="none"), "external_signature_untrusted"),
        (detached(payload["text"] + " ", doctor, between), "external_signature_mismatch"),
    ):
        refused(ward.prescriber.post(f"{path}/sign", json={"external_signature": jws}), 422, code)
        assert done(ward.prescriber.get(path)) == before
    signed = done(ward.prescriber.post(f"{path}/sign", json={"external_signature": good}))
    assert signed["status"] == "signed"
    assert done(ward.prescriber.get(f"{path}/verification"))["external_signature_ok"] is True
    ward.clinic.policies(external_signing_roots=[])
    found = done(ward.prescriber.get(f"{path}/verification"))
    assert (found["external_signature_ok"], found["signature_ok"], found["trusted"]) == (False, True, True)


def test_a_run_made_anew_changes_the_content(ward):
    ward.clinic.policies(external_signing_roots=[root.pem])
    one = ward.draft()
    ward.act(one, "validate")
    path = f"/v1/prescriptions/{one['id']}"
    text = done(ward.prescriber.get(f"{path}/signing-payload"))["text"]
    ward.act(one, "validate")
    jws = detached(text, doctor, between)
    refused(
        ward.prescriber.post(f"{path}/sign", json={"external_signature": jws}), 422, "external_signature_mismatch"
    )
