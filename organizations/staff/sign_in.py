"""Sign-in to the admin: the platform's password check, second factor and lockout, and an idle limit."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import HttpRequest
from unfold.forms import AdminOwnPasswordChangeForm
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextInputWidget

from api import ratelimits
from core.clock import now
from core.crypto import key_ring
from core.errors import PlatformError, TooMany
from organizations.signin import passwords, totp
from organizations.signin.limits import network_of

from . import audit
from .roles import role_of

IDLE = timedelta(minutes=15)
PER_ADDRESS = "staff_sign_in"
_SEEN = "staff_seen_at"
_REFUSED = "The e-mail address, the password or the code is wrong."


class StaffSignInForm(forms.Form):
    """E-mail address, password and, if enrolled, a code. All refusals read the same, except for a lockout."""

    username = forms.EmailField(
        label="E-mail address",
        max_length=254,
        widget=UnfoldAdminTextInputWidget(attrs={"autofocus": True, "autocomplete": "username", "type": "email"}),
    )
    password = forms.CharField(
        label="Password",
        strip=False,
        max_length=passwords.MAX_CHARACTERS,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "current-password"}),
    )
    code = forms.CharField(
        label="Code from your authenticator app",
        required=False,
        max_length=10,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )
    required_css_class = "required"

    def __init__(self, request: HttpRequest | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request
        self.user: Any = None

    def clean(self) -> dict[str, Any]:
        """Authenticate the member of staff.

        :raises ValidationError: a credential is wrong, the person is not staff, or sign-in is locked.
        """
        data: dict[str, Any] = self.cleaned_data
        if self.request is None or not data.get("username") or not data.get("password"):
            return data
        try:
            self.user = _authenticate(self.request, data["username"], data["password"], data.get("code", "").strip())
        except TooMany as refusal:
            audit.log_security(self.request, refusal.code)
            raise forms.ValidationError(f"{refusal.title} {refusal.detail}", code="locked") from refusal
        except PlatformError as refusal:
            audit.log_security(self.request, "staff_sign_in_failed")
            raise forms.ValidationError(_REFUSED, code="invalid_login") from refusal
        return data

    def get_user(self) -> Any:
        """Return the authenticated member of staff."""
        return self.user


class NotStaff(PlatformError):
    """The credentials are right, but the person is not staff."""

    code = "not_staff"


def _authenticate(request: HttpRequest, email: str, password: str, code: str) -> Any:
    at = now()
    network = network_of(request)
    bucket = key_ring().digest(network, purpose="sign-in-limit")
    if not ratelimits.take(ratelimits.POLICIES[PER_ADDRESS], bucket).allowed:
        raise TooMany("Wait a minute.")
    user = passwords.authenticate(email=email, password=password, network=network, at=at)
    if not role_of(user):
        raise NotStaff
    if totp.is_enrolled(user.pk):
        totp.prove(user.pk, code=code, at=at)
    get_user_model()._default_manager.filter(pk=user.pk).update(last_sign_in_at=at)
    return user


class OwnPasswordForm(AdminOwnPasswordChangeForm):  # type: ignore[misc]  # the theme has no types
    """Change of the user's own password by the platform's action: all tokens end and a mail confirms the change."""

    def save(self, commit: bool = True) -> Any:
        """Set the new password."""
        with transaction.atomic():
            passwords.change(self.user, password=self.cleaned_data["new_password1"], at=now())
        return self.user


def mark_signed_in(request: HttpRequest) -> None:
    """Mark the session as opened in the admin; a session of the OAuth pages is never marked."""
    request.session[_SEEN] = now().timestamp()
    audit.log_security(request, "staff_signed_in", subject=str(request.user.pk))


def is_present(request: HttpRequest) -> bool:
    """Return whether the session was opened in the admin and used within the idle limit."""
    seen = request.session.get(_SEEN)
    return seen is not None and now().timestamp() - float(seen) < IDLE.total_seconds()


def touch(request: HttpRequest) -> None:
    """Record that the session is in use, at most once in 30 s to save writes."""
    if now().timestamp() - float(request.session.get(_SEEN, 0)) > 30:
        request.session[_SEEN] = now().timestamp()
