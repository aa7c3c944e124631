"""What the tests of signatures and of the key ring share."""

import base64
import json
from io import StringIO

import jwt
from django.core.management import call_command

from tests.factories import Api

TYP = {"snapshot": "prescription-snapshot+jws", "checkpoint": "audit-checkpoint+jws"}
PAYLOAD = '{"schema":"hp.prescription.snapshot/1","name":"Zoë"}'.encode()
ES = ["snapshot", "checkpoint"]


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def header_of(text):
    return jwt.get_unverified_header(text)


def key_set():
    answer = Api().get("/.well-known/prescription-jwks.json")
    assert answer.status_code == 200
    return answer


def command(*arguments):
    out = StringIO()
    call_command("rotate_signing_keys", "--json", *arguments, stdout=out)
    return json.loads(out.getvalue())
