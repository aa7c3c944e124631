"""How mails leave the service: by a mail server or, on a developer's machine without one, as files in the data folder.

Mails hold live links of invitations and resets, so they stand in no log: the backend that prints them is refused.
"""

from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from core.ids import uuid7_text

_SERVERS = ("smtp", "smtps", "smtp+tls", "smtp+ssl")
_FORMS = f"{', '.join(_SERVERS[:-1])} or {_SERVERS[-1]}"
_KEPT = 200


def mail_settings(env: environ.Env, *, production: bool) -> dict[str, Any]:
    """Return Django's settings of mail for the address in `EMAIL_URL`; without one, those of the folder.

    :raises ImproperlyConfigured: in production there is no address of a mail server; elsewhere, mails would be printed.
    """
    address: str = env.str("EMAIL_URL", default="").strip()
    scheme = address.partition("://")[0]
    if production and scheme not in _SERVERS:
        raise ImproperlyConfigured(f"EMAIL_URL must be the address of a mail server in production: {_FORMS}.")
    if not address:
        return {"EMAIL_BACKEND": "config.mails.FolderBackend"}
    if scheme == "consolemail":
        raise ImproperlyConfigured(
            f"EMAIL_URL must not print mails, which hold live links: use {_FORMS}, or leave it out."
        )
    found: dict[str, Any] = env.email_url("EMAIL_URL")
    return found


class FolderBackend(BaseEmailBackend):
    """Writes each mail into a file of `MAIL_FOLDER`, which only its owner may read; the newest 200 are kept."""

    def send_messages(self, email_messages: Any) -> int:
        """Write the mails and return how many were written."""
        from django.conf import settings

        folder: Path = settings.MAIL_FOLDER
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for message in email_messages:
            _write(folder, message)
        for old in newest(folder)[_KEPT:]:
            old.unlink(missing_ok=True)
        return len(email_messages)


def newest(folder: Path) -> list[Path]:
    """Return the files of mails in a folder, the newest first: their names begin with the time."""
    return sorted(folder.glob("*.eml"), reverse=True)


def _write(folder: Path, message: EmailMessage) -> None:
    """Write a mail under a name that a reader of the folder does not see before the file is whole."""
    draft = folder / f"{uuid7_text()}.draft"
    draft.touch(mode=0o600, exist_ok=False)
    draft.write_bytes(message.message().as_bytes())
    draft.rename(draft.with_suffix(".eml"))
