"""HTTP of first-party sign-in. Tokens are answered bare, as OAuth's own answers are; everything else in the envelope."""

from typing import Any, ClassVar

import orjson
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from api import envelopes
from api.operations import Operation
from api.views import ApiViewSet
from api.writing import read_body
from core import clock

from . import actions, resets
from .actions import FirstPartyOnly, InvalidRefreshToken, Tokens
from .limits import spend_for_account
from .lockout import AccountLocked
from .passwords import InvalidCredentials, WeakPassword
from .resets import InvalidLink
from .serializers import AcceptIn, CodeIn, ConfirmIn, RefreshIn, ResetIn, SignInIn
from .totp import AlreadyEnrolled, InvalidCode, NoSecondFactor

_TEXT: dict[str, Any] = {"type": "string"}
_TOKENS: dict[str, Any] = {
    "title": "Tokens",
    "type": "object",
    "required": ["access_token", "token_type", "expires_in"],
    "properties": {
        "access_token": _TEXT,
        "refresh_token": _TEXT,
        "token_type": {"type": "string", "const": "Bearer"},
        "expires_in": {"type": "integer", "description": "Seconds."},
    },
    "examples": [
        {
            "access_token": "eyJhbGciOiJFUzI1NiJ9…",
            "refresh_token": "hrt_4dXh2…",
            "token_type": "Bearer",
            "expires_in": 600,
        }
    ],
}
_SECRET: dict[str, Any] = {
    "title": "SecondFactor",
    "type": "object",
    "required": ["secret", "otpauth_uri"],
    "properties": {"secret": _TEXT, "otpauth_uri": _TEXT},
    "examples": [
        {
            "secret": "JBSWY3DPEHPK3PXP",
            "otpauth_uri": "otpauth://totp/Healthcare:anna.berg@hospital.example?secret=JBSWY3DPEHPK3PXP",
        }
    ],
}
_EXAMPLE_ADDRESS = "anna.berg@hospital.example"
_EXAMPLE_PASSWORD = "a long and personal sentence"  # noqa: S105  # for the documents
_EXAMPLE_REFRESH = "hrt_4dXh2…"
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class SignInViewSet(ApiViewSet):
    """Base of the operations here: a body in, one action, no tenant."""

    tag = "Sign-in"

    def body(self) -> dict[str, Any]:
        """The checked body."""
        return read_body(self.request, self.operation)[0]

    def bare(self, given: Tokens) -> HttpResponse:
        """Tokens as OAuth writes them; nobody may keep them."""
        return envelopes.respond(orjson.dumps(given.as_json()), status=self.operation.status, headers=NO_STORE)


class TokenViewSet(SignInViewSet):
    """Sign in, stay in, sign out."""

    operation_ids: ClassVar = {"create": "signIn", "refresh": "refreshTokens", "revoke": "signOut"}

    operations: ClassVar = {
        "create": Operation(
            scope="",
            summary="Sign in with e-mail address and password",
            status=200,
            description="For the platform's own applications. A `code` of the second factor raises the session at once.",
            body=SignInIn,
            answer=_TOKENS,
            public=True,
            tenant="none",
            errors=(InvalidCredentials, InvalidCode, NoSecondFactor, AccountLocked),
            example={"email": _EXAMPLE_ADDRESS, "password": _EXAMPLE_PASSWORD},
        ),
        "refresh": Operation(
            scope="",
            summary="Swap a refresh token for the next pair",
            description="Each refresh token is good once; a repeat within 10 s gets the same pair, a later one ends the session.",
            body=RefreshIn,
            answer=_TOKENS,
            public=True,
            tenant="none",
            errors=(InvalidRefreshToken,),
            example={"refresh_token": _EXAMPLE_REFRESH},
        ),
        "revoke": Operation(
            scope="",
            summary="Sign out",
            description="Ends the session: its refresh token and its access tokens are refused at once.",
            body=RefreshIn,
            public=True,
            tenant="none",
            status=204,
            example={"refresh_token": _EXAMPLE_REFRESH},
        ),
    }

    def create(self, request: HttpRequest) -> HttpResponse:
        """Sign in."""
        data = self.body()
        return self.bare(actions.sign_in(**data, at=clock.now()))

    def refresh(self, request: HttpRequest) -> HttpResponse:
        """Rotate the refresh token."""
        return self.bare(actions.refresh(**self.body(), at=clock.now()))

    def revoke(self, request: HttpRequest) -> HttpResponse:
        """Sign out."""
        actions.sign_out(**self.body(), at=clock.now())
        return envelopes.respond(b"", status=204)


class InvitationViewSet(SignInViewSet):
    """Taking up an invited membership."""

    operation_ids: ClassVar = {"accept": "acceptInvitation"}

    operations: ClassVar = {
        "accept": Operation(
            scope="",
            summary="Accept an invitation and sign in",
            description="Somebody new sets a password; somebody who has one already gives that one.",
            body=AcceptIn,
            answer=_TOKENS,
            public=True,
            tenant="none",
            errors=(InvalidLink, InvalidCredentials, WeakPassword, AccountLocked),
            example={"password": _EXAMPLE_PASSWORD, "name": "Anna Berg"},
        ),
    }

    def accept(self, request: HttpRequest, token: str) -> HttpResponse:
        """Accept."""
        return self.bare(actions.accept_invitation(token=token, **self.body(), at=clock.now()))


class PasswordViewSet(SignInViewSet):
    """Forgotten passwords."""

    operation_ids: ClassVar = {"reset": "requestPasswordReset", "confirm": "setPassword"}

    operations: ClassVar = {
        "reset": Operation(
            scope="",
            summary="Ask for a link to set a new password",
            description="The answer is the same whether the address is known or not.",
            body=ResetIn,
            answer={
                "title": "PasswordReset",
                "type": "object",
                "required": ["status"],
                "properties": {"status": {**_TEXT, "const": "accepted"}},
                "examples": [{"status": "accepted"}],
            },
            public=True,
            tenant="none",
            status=202,
            example={"email": _EXAMPLE_ADDRESS},
        ),
        "confirm": Operation(
            scope="",
            summary="Set a new password with the link's token",
            description="All sessions of the person end.",
            body=ConfirmIn,
            public=True,
            tenant="none",
            status=204,
            errors=(InvalidLink, WeakPassword),
            example={"token": "hpr_9Qz…", "password": _EXAMPLE_PASSWORD},
        ),
    }

    def reset(self, request: HttpRequest) -> HttpResponse:
        """Have the link mailed."""
        data = self.body()
        spend_for_account(data["email"])
        with transaction.atomic():
            resets.request(**data, at=clock.now())
        return envelopes.respond(b'{"status":"accepted"}', status=202)

    def confirm(self, request: HttpRequest) -> HttpResponse:
        """Set the password."""
        data = self.body()
        with transaction.atomic():
            resets.confirm(**data, at=clock.now())
        return envelopes.respond(b"", status=204)


class FactorViewSet(SignInViewSet):
    """The second factor."""

    operation_ids: ClassVar = {"enroll": "enrollSecondFactor", "verify": "verifySecondFactor"}

    operations: ClassVar = {
        "enroll": Operation(
            scope="",
            summary="Enrol a TOTP authenticator",
            description="The secret is shown this once and comes in force with the first code sent to `/v1/auth/mfa/verify`.",
            answer=_SECRET,
            tenant="none",
            user_only=True,
            status=201,
            errors=(AlreadyEnrolled, FirstPartyOnly),
            secrets=("secret", "otpauth_uri"),
        ),
        "verify": Operation(
            scope="",
            summary="Step up with a code of the second factor",
            description="Answers an access token with acr `mfa` and a fresh auth_time; the refresh token stays as it is.",
            body=CodeIn,
            answer=_TOKENS,
            tenant="none",
            user_only=True,
            errors=(InvalidCode, NoSecondFactor, AccountLocked, FirstPartyOnly),
            secrets=("access_token",),
            example={"code": "492039"},
        ),
    }

    def enroll(self, request: HttpRequest) -> HttpResponse:
        """Draw a secret."""
        self.body()
        secret, uri = actions.enroll_factor(self.subject, at=clock.now())
        content = orjson.dumps({"secret": secret, "otpauth_uri": uri})
        return self.answer(content, status=201, headers=NO_STORE)

    def verify(self, request: HttpRequest) -> HttpResponse:
        """Raise the session."""
        given = actions.step_up(self.subject, code=self.body()["code"], at=clock.now())
        return self.answer(orjson.dumps(given.as_json()), headers=NO_STORE)
