"""The page on which members of staff enrol, or replace, their own second factor, by a QR code."""

from typing import Any

import segno
from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from unfold.widgets import UnfoldAdminTextInputWidget

from core.clock import now
from core.errors import PlatformError
from organizations.signin import totp

from . import audit

_BEGIN, _CONFIRM = "begin", "confirm"


class CodeForm(forms.Form):
    """A code of six digits from the authenticator app."""

    code = forms.RegexField(
        r"^[0-9]{6}\Z",
        label="Code from your authenticator app",
        error_messages={"required": "Enter the code.", "invalid": "The code has six digits."},
        widget=UnfoldAdminTextInputWidget(
            attrs={"autocomplete": "one-time-code", "inputmode": "numeric", "maxlength": 6}
        ),
    )


@never_cache
@sensitive_post_parameters()
def second_factor_view(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Show whether a second factor is in force; set one up in two steps, a QR code and its first code.

    :param context: what every page of the site is given.
    """
    user: Any = request.user
    in_force = totp.is_enrolled(user.pk)
    step = request.POST.get("step", "") if request.method == "POST" else ""
    # The first step of a replacement, and the second of any, ask for a code.
    form = CodeForm(request.POST if step == _CONFIRM or (step == _BEGIN and in_force) else None)
    shown: dict[str, Any] = {}
    if step and (not form.is_bound or form.is_valid()):
        try:
            if step == _CONFIRM:
                return _confirmed(request, form.cleaned_data["code"])
            shown = _begun(user, form.cleaned_data["code"] if in_force else "")
            form = CodeForm()
        except PlatformError as refusal:
            audit.log_security(request, refusal.code, subject=str(user.pk))
            if not form.is_bound:  # another tab was faster
                messages.error(request, refusal.title)
                return HttpResponseRedirect(reverse("admin:second_factor"))
            form.add_error(
                None, f"{refusal.title} {refusal.detail}" if refusal.detail != refusal.title else refusal.title
            )
    page = {"title": "Second factor", "form": form, "in_force": in_force, "confirming": bool(shown) or step == _CONFIRM}
    status = 400 if form.errors else 200
    return TemplateResponse(request, "staff/second_factor.html", {**context, **page, **shown}, status=status)


def _begun(user: Any, code: str) -> dict[str, Any]:
    """Make a new secret, after the present factor was proved if there is one; return it and its QR code."""
    at = now()
    proved = totp.demand(user.pk, code=code, at=at)
    with transaction.atomic():
        secret, uri = totp.enroll(user, may_replace=proved, at=at)
    return {"secret": " ".join(secret[n : n + 4] for n in range(0, len(secret), 4)), "qr": qr_code(uri)}


def _confirmed(request: HttpRequest, code: str) -> HttpResponse:
    totp.confirm(request.user.pk, code=code, at=now())  # type: ignore[arg-type]  # the key of a signed-in user is a UUID
    audit.log_security(request, "second_factor_enrolled", subject=str(request.user.pk))
    messages.success(request, "Your second factor is in force. From now on every sign-in asks for its code.")
    return HttpResponseRedirect(reverse("admin:second_factor"))


def qr_code(text: str) -> SafeString:
    """Draw a text as a QR code, dark on light whatever the theme. Source: ISO/IEC 18004."""
    drawing = segno.make(text, error="m", micro=False).svg_inline(scale=5, dark="#000", light="#fff")
    return mark_safe(drawing)  # noqa: S308  # nosec B308 B703 - a drawing of squares; the text is not in it
