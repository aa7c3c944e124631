"""Views of first-party sign-in. Public operations answer without the envelope, as OAuth does; the others with it."""

from typing import Any

import orjson
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api import envelopes
from api.operations import Operation
from api.views import ApiViewSet
from api.writing import read_body
from core import clock

from . import actions, resets
from .actions import FirstPartyOnly, InvalidRefreshToken, Tokens
from .limits import network_of, spend_for_account
from .lockout import AccountLocked
from .passwords import InvalidCredentials, WeakPassword
from .representations import AcceptedOut, FactorSecretOut, TokensOut
from .resets import InvalidLink
from .serializers import AcceptIn, CodeIn, ConfirmIn, RefreshIn, ResetIn, SignInIn
from .totp import AlreadyEnrolled, InvalidCode, NoSecondFactor, SecondFactorRequired

_EXAMPLE_ADDRESS = "anna.berg@hospital.example"
_EXAMPLE_PASSWORD = "a long and personal sentence"  # noqa: S105  # for the documents
_EXAMPLE_REFRESH = "hrt_4dXh2…"
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class SignInViewSet(ApiViewSet):
    """Base of the sign-in viewsets: a body, one action, no tenant."""

    tag = "Sign-in"

    def body(self) -> dict[str, Any]:
        """Return the validated body."""
        return read_body(self.request, self.operation)[0]

    def bare(self, given: Tokens) -> HttpResponse:
        """Return tokens as OAuth writes them, with caching forbidden."""
        return envelopes.respond(orjson.dumps(given.as_json()), status=self.operation.status, headers=NO_STORE)


class TokenViewSet(SignInViewSet):
    """Sign in, refresh, sign out."""

    operation_ids = {"create": "signIn", "refresh": "refreshTokens", "revoke": "signOut"}
    operations = {
        "create": Operation(
            "Sign in with e-mail address and password",
            "For the platform's own applications. Where a second factor is in force, its code is demanded in `otp`, and steps "
            "the session up at once.",
            body=SignInIn,
            answer=TokensOut,
            status=200,
            public=True,
            tenant="none",
            errors=(InvalidCredentials, SecondFactorRequired, InvalidCode, NoSecondFactor, AccountLocked),
            example={"email": _EXAMPLE_ADDRESS, "password": _EXAMPLE_PASSWORD},
        ),
        "refresh": Operation(
            "Exchange a refresh token for the next pair",
            "Each refresh token works once. A repeat within 10 s returns the same pair; a later one ends the session.",
            body=RefreshIn,
            answer=TokensOut,
            public=True,
            tenant="none",
            errors=(InvalidRefreshToken,),
            example={"refresh_token": _EXAMPLE_REFRESH},
        ),
        "revoke": Operation(
            "Sign out",
            "Ends the session: its refresh token and its access tokens are refused at once.",
            body=RefreshIn,
            public=True,
            tenant="none",
            status=204,
            example={"refresh_token": _EXAMPLE_REFRESH},
        ),
    }

    def create(self, request: HttpRequest) -> HttpResponse:
        """Sign in."""
        return self.bare(actions.sign_in(**self.body(), network=network_of(request), at=clock.now()))

    @action(detail=False, methods=["post"])
    def refresh(self, request: HttpRequest) -> HttpResponse:
        """Rotate the refresh token."""
        return self.bare(actions.refresh(**self.body(), at=clock.now()))

    @action(detail=False, methods=["post"])
    def revoke(self, request: HttpRequest) -> HttpResponse:
        """Sign out."""
        actions.sign_out(**self.body(), at=clock.now())
        return envelopes.respond(b"", status=204)


class InvitationViewSet(SignInViewSet):
    """Acceptance of invitations."""

    operation_ids = {"accept": "acceptInvitation"}
    lookup_url_kwarg = "token"
    lookup_value_converter = "str"
    operations = {
        "accept": Operation(
            "Accept an invitation and sign in",
            "A new person sets a password. A person who already has an account gives its password, and `otp` where a second "
            "factor is in force.",
            body=AcceptIn,
            answer=TokensOut,
            public=True,
            tenant="none",
            errors=(InvalidLink, InvalidCredentials, SecondFactorRequired, InvalidCode, WeakPassword, AccountLocked),
            example={"password": _EXAMPLE_PASSWORD, "name": "Anna Berg"},
        ),
    }

    @action(detail=True, methods=["post"])
    def accept(self, request: HttpRequest, token: str) -> HttpResponse:
        """Accept the invitation that the address names."""
        return self.bare(actions.accept_invitation(token=token, **self.body(), at=clock.now()))


class PasswordViewSet(SignInViewSet):
    """Password resets."""

    operation_ids = {"reset": "requestPasswordReset", "confirm": "setPassword"}
    operations = {
        "reset": Operation(
            "Request a link to set a new password",
            "The answer is the same whether the address is known or not.",
            body=ResetIn,
            answer=AcceptedOut,
            public=True,
            tenant="none",
            status=202,
            example={"email": _EXAMPLE_ADDRESS},
        ),
        "confirm": Operation(
            "Set a new password with the link's token",
            "Ends all sessions of the person.",
            body=ConfirmIn,
            public=True,
            tenant="none",
            status=204,
            errors=(InvalidLink, WeakPassword),
            example={"token": "hpr_9Qz…", "password": _EXAMPLE_PASSWORD},
        ),
    }

    @action(detail=False, methods=["post"])
    def reset(self, request: HttpRequest) -> HttpResponse:
        """Send the link by e-mail."""
        data = self.body()
        spend_for_account(data["email"])
        with transaction.atomic():
            resets.request(**data, at=clock.now())
        return envelopes.respond(b'{"status":"accepted"}', status=202)

    @action(detail=False, methods=["post"])
    def confirm(self, request: HttpRequest) -> HttpResponse:
        """Set the password."""
        data = self.body()
        with transaction.atomic():
            resets.confirm(**data, at=clock.now())
        return envelopes.respond(b"", status=204)


class FactorViewSet(SignInViewSet):
    """The second factor."""

    operation_ids = {"enroll": "enrollSecondFactor", "verify": "verifySecondFactor"}
    operations = {
        "enroll": Operation(
            "Enrol a TOTP authenticator",
            "The secret is shown only once. It comes into force with the first code sent to `/v1/auth/mfa/verify`.",
            answer=FactorSecretOut,
            tenant="none",
            scope="",
            user_only=True,
            status=201,
            errors=(AlreadyEnrolled, FirstPartyOnly),
            secrets=("secret", "otpauth_uri"),
        ),
        "verify": Operation(
            "Step up with a code of the second factor",
            "Returns an access token with `acr` `mfa` and a new `auth_time`. The refresh token stays valid.",
            body=CodeIn,
            answer=TokensOut,
            tenant="none",
            scope="",
            user_only=True,
            errors=(InvalidCode, NoSecondFactor, AccountLocked, FirstPartyOnly),
            secrets=("access_token",),
            example={"code": "492039"},
        ),
    }

    @action(detail=False, methods=["post"])
    def enroll(self, request: HttpRequest) -> HttpResponse:
        """Create a secret."""
        self.body()
        secret, uri = actions.enroll_factor(self.subject, at=clock.now())
        content = orjson.dumps({"secret": secret, "otpauth_uri": uri})
        return self.answer(content, status=201, headers=NO_STORE)

    @action(detail=False, methods=["post"])
    def verify(self, request: HttpRequest) -> HttpResponse:
        """Step the session up."""
        given = actions.step_up(self.subject, code=self.body()["code"], at=clock.now())
        return self.answer(orjson.dumps(given.as_json()), headers=NO_STORE)
