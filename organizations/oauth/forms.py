"""Forms of the pages where people sign in, accept invitations and set passwords."""

from django import forms

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
    """Address, password and perhaps a code."""

    email = forms.EmailField(
        label="E-mail address",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    password = _password("Password", "current-password")
    code = _CODE


class InvitationForm(forms.Form):
    """The password and name of somebody who was invited."""

    token = forms.CharField(widget=forms.HiddenInput(), max_length=200)
    name = forms.CharField(
        label="Your name", max_length=200, required=False, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    password = _password("Password (the one you have, if you already use this platform)", "new-password")


class NewPasswordForm(forms.Form):
    """A new password."""

    token = forms.CharField(widget=forms.HiddenInput(), max_length=200)
    password = _password("New password", "new-password")
