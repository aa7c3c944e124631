"""The page of a developer's machine that shows mails; in production its address does not exist."""

import email.policy
import ipaddress
from email.parser import BytesParser
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from .mails import newest

_SHOWN = 50


@require_safe
def mail_page(request: HttpRequest) -> HttpResponse:
    """Show the newest mails of the data folder, with their live links, to callers on this machine.

    :raises Http404: in production, and to everybody else.
    """
    if settings.PRODUCTION or not _is_here(request):
        raise Http404
    mails = [_read(file) for file in newest(settings.MAIL_FOLDER)[:_SHOWN]]
    return HttpResponse(render_to_string("development/mail.html", {"mails": mails, "folder": settings.MAIL_FOLDER}))


def _is_here(request: HttpRequest) -> bool:
    address = str(getattr(request, "client_address", ""))
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _read(file: Path) -> dict[str, str]:
    message = BytesParser(policy=email.policy.default).parsebytes(file.read_bytes())
    body = message.get_body(("plain",))
    headers = {name: str(message.get(name, "")) for name in ("to", "subject", "date")}
    return headers | {"text": body.get_content() if body else ""}
