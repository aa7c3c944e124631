"""Actions of first-party sign-in: sign in, refresh, sign out, accept an invitation, enrol and prove a second factor."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from core.actor import Subject
from core.errors import Forbidden, Unauthenticated
from organizations import tokens
from organizations.models import SignInSession, User

from . import invitations, lockout, passwords, sessions, totp
from .sessions import MFA, PASSWORD, Proof

# A second factor may be replaced for this long after it was proved.
RECENT = timedelta(minutes=15)


class InvalidRefreshToken(Unauthenticated):
    """The refresh token is unknown, expired, another client's or already used; reuse has ended the session."""

    code = "invalid_refresh_token"
    title = "The refresh token is not valid; sign in again."


class FirstPartyOnly(Forbidden):
    """The operation handles second factors, which other companies' applications must not do."""

    code = "first_party_only"
    title = "Only the platform's own applications may do this."


class NoSession(Unauthenticated):
    """The access token does not belong to an open session of an active person."""

    code = "invalid_token"
    title = "Sign in again."


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a sign-in; a step-up gives no new refresh token."""

    access_token: str
    refresh_token: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the token response. Source: RFC 6749 section 5.1."""
        seconds = int(tokens.LIFETIME.total_seconds())
        answer: dict[str, Any] = {"access_token": self.access_token}
        if self.refresh_token:
            answer["refresh_token"] = self.refresh_token
        return answer | {"token_type": "Bearer", "expires_in": seconds}


def sign_in(*, email: str, password: str, otp: str, network: str, at: datetime) -> Tokens:
    """Open a session for a person; where a second factor is in force, its code is demanded, and steps the session up.

    :raises InvalidCredentials: the address or the password is wrong.
    :raises SecondFactorRequired: the password is right, a second factor is in force, and there is no code.
    :raises InvalidCode: the code is wrong.
    :raises NoSecondFactor: there is a code, but no second factor is in force.
    :raises AccountLocked: there were too many failures before.
    """
    user = passwords.authenticate(email=email, password=password, network=network, at=at)
    with_code = totp.demand(user.pk, code=otp, at=at)
    if otp and not with_code:
        raise totp.NoSecondFactor
    return open_session(user, with_code=with_code, at=at)


def open_session(user: User, *, with_code: bool, at: datetime) -> Tokens:
    """Open a first-party session for a person who has just authenticated."""
    proof = Proof(MFA, ("pwd", "otp"), at) if with_code else Proof(PASSWORD, ("pwd",), at)
    with transaction.atomic():
        session = sessions.start(user=user, client_id=tokens.FIRST_PARTY_CLIENT, scopes=None, proof=proof, at=at)
        refresh_token = sessions.new_refresh_token()
        sessions.store_refresh_token(session, token=refresh_token, at=at)
        User.objects.filter(pk=user.pk).update(last_sign_in_at=at)
    return Tokens(sessions.access_token(session, at=at), refresh_token)


def refresh(*, refresh_token: str, at: datetime) -> Tokens:
    """Exchange a refresh token for the next pair of tokens.

    :raises InvalidRefreshToken: the token is unknown, expired, another client's or already used.
    """
    with transaction.atomic():
        found = sessions.redeem(refresh_token, client_id=tokens.FIRST_PARTY_CLIENT, at=at)
        given = None if found is None else _next_pair(found, refresh_token, at)
    if given is None:
        raise InvalidRefreshToken
    return given


def _next_pair(found: sessions.Redemption, refresh_token: str, at: datetime) -> Tokens:
    if found.answer is not None:
        return Tokens(**found.answer)
    given = Tokens(sessions.access_token(found.session, at=at), sessions.new_refresh_token())
    sessions.store_refresh_token(found.session, token=given.refresh_token, at=at)
    answer = {"access_token": given.access_token, "refresh_token": given.refresh_token}
    sessions.mark_used(found, token=refresh_token, answer=answer, at=at)
    return given


def sign_out(*, refresh_token: str, at: datetime) -> None:
    """End the session of a refresh token; an unknown token is no error. Source: RFC 7009 section 2.2."""
    with transaction.atomic():
        session = sessions.find_by_refresh_token(refresh_token, client_id=tokens.FIRST_PARTY_CLIENT)
        if session is not None:
            sessions.end(session, reason="signed_out", at=at)


def accept_invitation(*, token: str, password: str, name: str, otp: str, at: datetime) -> Tokens:
    """Accept an invitation and sign the person in.

    :raises InvalidLink, InvalidCredentials, WeakPassword: see `invitations.accept`.
    :raises SecondFactorRequired, InvalidCode: the person has a second factor in force; see `totp.demand`.
    :raises AccountLocked: there were too many attempts with this link.
    """
    subject = lockout.count("invitation", token, at=at)
    invited = invitations.person_of(token, at=at)
    with_code = False
    if invited is not None and totp.is_enrolled(invited.pk):
        # Before the transaction, since a wrong code must stay counted.
        if not invited.check_password(password):
            raise passwords.InvalidCredentials
        with_code = totp.demand(invited.pk, code=otp, at=at)
    with transaction.atomic():
        user = invitations.accept(token=token, password=password, name=name, at=at)
    lockout.clear(subject)
    return open_session(user, with_code=with_code, at=at)


def enroll_factor(subject: Subject, *, at: datetime) -> tuple[str, str]:
    """Create a new TOTP secret for the signed-in person.

    :returns: the secret and its otpauth URI.
    :raises AlreadyEnrolled: a factor is in force, and this session has not proved it recently.
    :raises FirstPartyOnly: the access token belongs to another company's application.
    """
    with transaction.atomic():
        session = _session_of(subject)
        proved_recently = session.acr == MFA and at - session.authenticated_at <= RECENT
        return totp.enroll(session.user, may_replace=proved_recently, at=at)


def step_up(subject: Subject, *, code: str, at: datetime) -> Tokens:
    """Step the session up with a code of the second factor; the first code brings a new factor into force.

    The refresh token stays the same; access tokens from later refreshes are stepped up too.

    :raises InvalidCode, NoSecondFactor, AccountLocked: see `totp.prove`.
    :raises FirstPartyOnly: the access token belongs to another company's application.
    """
    if subject.client_id != tokens.FIRST_PARTY_CLIENT:
        raise FirstPartyOnly
    totp.prove(subject.id, code=code, at=at, first_use=True)
    with transaction.atomic():
        session = _session_of(subject)
        session.acr, session.amr, session.authenticated_at = MFA, ["pwd", "otp"], at
        session.save(update_fields=["acr", "amr", "authenticated_at"])
    return Tokens(sessions.access_token(session, at=at))


def _session_of(subject: Subject) -> SignInSession:
    if subject.client_id != tokens.FIRST_PARTY_CLIENT:
        raise FirstPartyOnly
    open_sessions = (
        SignInSession.objects.select_for_update(of=("self",)).select_related("user").filter(ended_at__isnull=True)
    )
    session = open_sessions.filter(pk=subject.session_id, user_id=subject.id, user__is_active=True).first()
    if session is None:
        raise NoSession
    return session
