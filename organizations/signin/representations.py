"""Answers of the sign-in operations."""

from typing import Any

from rest_framework import serializers

from api.representations import OpenChoice


class TokensOut(serializers.Serializer[Any]):
    """Tokens, as OAuth writes them. Source: RFC 6749 section 5.1."""

    access_token = serializers.CharField()
    refresh_token = serializers.CharField(required=False)
    token_type = OpenChoice(choices=("Bearer",))
    expires_in = serializers.IntegerField(help_text="Seconds until the access token expires.")


class FactorSecretOut(serializers.Serializer[Any]):
    """The secret of a new second factor, shown only once."""

    secret = serializers.CharField()
    otpauth_uri = serializers.CharField(help_text="The secret as a URI; authenticator apps read it from a QR code.")


class AcceptedOut(serializers.Serializer[Any]):
    """The request was accepted; the answer does not reveal whether the address is known."""

    status = OpenChoice(choices=("accepted",))
