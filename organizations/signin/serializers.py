"""Bodies of the sign-in operations."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from api.serializers import StrictSerializer

from .passwords import MAX_CHARACTERS

_CODE = r"^[0-9]{6}\Z"


class SignInIn(StrictSerializer):
    """E-mail address and password, and a code of the second factor (`otp`) where one is in force."""

    email = serializers.EmailField(max_length=254)
    password = serializers.CharField(max_length=MAX_CHARACTERS, trim_whitespace=False)
    otp = serializers.RegexField(_CODE, required=False, help_text="A code of six digits from the authenticator app.")
    code = serializers.RegexField(
        _CODE, required=False, help_text="An earlier name of `otp`, which counts if both are sent."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Take the code under either name."""
        earlier = attrs.pop("code", "")
        return attrs | {"otp": attrs.get("otp", earlier)}


@extend_schema_serializer(component_name="RefreshToken")
class RefreshIn(StrictSerializer):
    """A refresh token."""

    refresh_token = serializers.CharField(max_length=200)


@extend_schema_serializer(component_name="InvitationAcceptance")
class AcceptIn(StrictSerializer):
    """The password: a new one, or the present one of a person who already has an account."""

    password = serializers.CharField(max_length=MAX_CHARACTERS, trim_whitespace=False)
    name = serializers.CharField(max_length=200, required=False, default="")
    otp = serializers.RegexField(
        _CODE, required=False, default="", help_text="Where the person has a second factor in force: its code."
    )


@extend_schema_serializer(component_name="PasswordReset")
class ResetIn(StrictSerializer):
    """The e-mail address that the link is sent to."""

    email = serializers.EmailField(max_length=254)


@extend_schema_serializer(component_name="NewPassword")
class ConfirmIn(StrictSerializer):
    """The link's token and the new password."""

    token = serializers.CharField(max_length=200)
    password = serializers.CharField(max_length=MAX_CHARACTERS, trim_whitespace=False)


@extend_schema_serializer(component_name="SecondFactorCode")
class CodeIn(StrictSerializer):
    """A code of six digits from the authenticator app."""

    code = serializers.RegexField(_CODE)
