"""Forms of the pages for sign-in, consent, invitations and new passwords."""

from typing import Any

from django import forms
from oauth2_provider.forms import AllowForm

from organizations import smart
from organizations.signin.passwords import MAX_CHARACTERS

_CODE = forms.RegexField(
    r"^[0-9]{6}\Z",
    required=False,
    label="Code from your authenticator app, if you have set one up",
    widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric", "maxlength": 6}),
    error_messages={"invalid": "The code has six digits."},
)


def _password(label: str, autocomplete: str) -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": autocomplete})
    return forms.CharField(label=label, max_length=MAX_CHARACTERS, strip=False, widget=widget)


class SignInForm(forms.Form):
    """E-mail address, password and, if enrolled, a code of the second factor."""

    email = forms.EmailField(
        label="E-mail address",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    password = _password("Password", "current-password")
    code = _CODE


class ConsentForm(AllowForm):  # type: ignore[misc]  # the library has no types
    """The person's consent; with tenant and patient if the client asks for one patient's record."""

    tenant = forms.ChoiceField(label="Organization", required=False)
    patient = forms.RegexField(
        r"^[A-Za-z0-9\-.]{1,64}\Z",
        label="Patient (id of the record)",
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "maxlength": 64}),
        error_messages={"invalid": "An id consists of letters, digits, hyphens and dots."},
    )

    def __init__(self, *args: Any, tenants: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["tenant"].choices = tenants

    def chosen(self) -> list[Any]:
        """Return the fields that the person fills in."""
        return [self["tenant"], self["patient"]]

    def clean(self) -> dict[str, Any]:
        """Require a tenant and a patient if the client asks for one patient's record."""
        data: dict[str, Any] = super().clean()
        if data.get("allow") and smart.of_one_patient(data.get("scope", "").split()):
            for name in ("tenant", "patient"):
                if not data.get(name) and name not in self.errors:
                    self.add_error(name, "This field is required.")
        return data


class InvitationForm(forms.Form):
    """The name and password of an invited person."""

    token = forms.CharField(widget=forms.HiddenInput(), max_length=200)
    name = forms.CharField(
        label="Your name", max_length=200, required=False, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    password = _password("Password (your present one, if you already have an account)", "new-password")
    otp = _CODE


class NewPasswordForm(forms.Form):
    """A new password."""

    token = forms.CharField(widget=forms.HiddenInput(), max_length=200)
    password = _password("New password", "new-password")
