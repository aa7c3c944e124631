"""Live links stand in no log: on a developer's machine mails are files that one page shows; production sends them."""

import io
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.mail import EmailMessage
from django.db import transaction

from api import logs
from core.clock import now
from organizations.models import Membership, User
from organizations.signin import invitations
from organizations.signin.tasks import send_mails
from tests.factories import Api, Client, provision, suffix

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = "/dev/mail"
PASSWORD = "a brand new sentence to sign in with"


@pytest.fixture
def folder(settings, tmp_path):
    """Have mails written into a new folder."""
    settings.EMAIL_BACKEND = "config.mails.FolderBackend"
    settings.MAIL_FOLDER = tmp_path / "mail"
    return settings.MAIL_FOLDER


@pytest.fixture
def log():
    """Return what the process logs."""
    stream = io.StringIO()
    logs.configure(stream=stream)
    yield stream
    logs.configure()


def invite():
    """Invite somebody new; return the address and the token of the link."""
    person = User.objects.create_user(f"new-{suffix()}@example.org")
    membership = Membership(tenant=provision("provider"), user=person, roles=["auditor"])
    membership.save()
    with transaction.atomic():
        return person.email, invitations.issue(membership=membership, at=now())


def test_mail_is_a_file_and_its_link_works_from_the_page(folder, log):
    address, token = invite()
    send_mails()

    page = Client().get(PAGE)
    link = next(one for one in re.findall(r'href="([^"]+)"', page.text) if token in one)

    assert page.status_code == 200
    assert address in page.text
    assert page.headers["Cache-Control"] == "no-store"
    assert [stat.S_IMODE(one.stat().st_mode) for one in (folder, *folder.iterdir())][:2] == [0o700, 0o600]
    (given,) = parse_qs(urlsplit(link).query)["token"]
    assert Api().post(f"/v1/auth/invitations/{given}/accept", json={"password": PASSWORD}).status_code == 200
    assert token not in log.getvalue()


def test_token_in_an_address_is_not_logged(log):
    _, token = invite()

    weak = Api().post(f"/v1/auth/invitations/{token}/accept", json={"password": "short"})
    Client().get(f"/oauth/invitation?token={token}")

    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert weak.status_code == 400
    assert [line["path"] for line in lines if line["event"] == "request"] == [
        "/v1/auth/invitations/*/accept",
        "/oauth/invitation",
    ]
    assert token not in log.getvalue()


@pytest.mark.parametrize("segment", ["hpk_live_Xk20fa8Q_0", "hrt_abc", "hpr_abc", "hpi_abc"])
def test_secret_pasted_into_an_address_is_not_logged(log, segment):
    Client().get(f"/v1/products/{segment}")

    assert segment not in log.getvalue()
    assert "/v1/products/*" in log.getvalue()


def test_page_is_for_callers_on_this_machine(folder):
    assert Client(REMOTE_ADDR="203.0.113.5").get(PAGE).status_code == 404
    assert Client().post(PAGE).status_code == 405
    assert Client().get(PAGE).status_code == 200


def test_page_is_not_there_in_production(folder, settings):
    invite()
    send_mails()
    settings.PRODUCTION = True

    assert Client().get(PAGE, secure=True).status_code == 404


def test_newest_mails_are_kept(folder):
    for number in range(205):
        EmailMessage(f"Mail {number}", "text", None, ["a@example.org"]).send()

    assert len(list(folder.iterdir())) == 200
    assert "Mail 204" in Client().get(PAGE).text


def test_text_of_a_mail_is_no_markup(folder):
    EmailMessage("<b>s</b>", "<script>alert(1)</script>", None, ["a@example.org"]).send()

    page = Client().get(PAGE).text
    assert "<script>" not in page
    assert "<b>" not in page


def start(**environment):
    """Start a process of the service, as production would; return its exit code and its last words."""
    command = [
        sys.executable,
        "-c",
        "import django; django.setup(); from django.urls import resolve; resolve('/dev/mail')",
    ]
    here = {name: value for name, value in os.environ.items() if name != "EMAIL_URL"}
    made = subprocess.run(command, cwd=ROOT, env={**here, **environment}, capture_output=True, text=True, check=False)
    return made.returncode, made.stderr.strip().splitlines()[-1:]


@pytest.mark.parametrize(
    "address", [None, "", "consolemail://", "filemail:///tmp/mails", "memorymail://", "dummymail://"]
)
def test_production_does_not_start_without_a_mail_server(address):
    given = {} if address is None else {"EMAIL_URL": address}

    code, (said,) = start(PRODUCTION="true", **given)

    assert code == 1
    assert said.startswith(
        "django.core.exceptions.ImproperlyConfigured: EMAIL_URL must be the address of a mail server"
    )


def test_production_starts_with_a_mail_server_and_has_no_page_of_mails():
    code, (said,) = start(PRODUCTION="true", EMAIL_URL="smtp+tls://user:secret@mail.example.org:587")

    assert code == 1
    assert said.startswith("django.urls.exceptions.Resolver404")


def test_development_needs_no_mail_server_and_prints_no_mails():
    assert start(PRODUCTION="false") == (0, [])
    code, (said,) = start(PRODUCTION="false", EMAIL_URL="consolemail://")
    assert (code, "EMAIL_URL must not print mails" in said) == (1, True)
