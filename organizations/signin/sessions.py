"""Sessions and their refresh tokens, of first-party sign-in and of OAuth clients.

A session is a family of refresh tokens, each of which works once. Reuse within the grace period repeats the stored
answer, for two tabs or a dropped connection. Later reuse means that the token was stolen: it ends the session, whose
access tokens are then refused. Rows are locked in this order: token, session.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q

from core.actor import SubjectKind
from core.canonical import sha256_hex
from core.crypto import key_ring, random_text
from core.db import needs_transaction
from organizations import tokens
from organizations.models import DeniedToken, RefreshToken, SignInSession, User

IDLE = timedelta(days=14)
ABSOLUTE = timedelta(days=90)
GRACE = timedelta(seconds=10)
# An access token may outlive its session by its lifetime, the leeway of verification, and the difference of clocks.
DENIED_FOR = tokens.LIFETIME + timedelta(seconds=120)

PASSWORD = "password"  # noqa: S105  # an authentication class
MFA = "mfa"
REFRESH_PREFIX = "hrt_"

_PURPOSE = "refresh-answer"


@dataclass(frozen=True, slots=True)
class Proof:
    """How and when a person authenticated: the claims acr, amr and auth_time of the tokens."""

    acr: str
    amr: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Bound:
    """The one patient and the one tenant that the tokens of a session are limited to."""

    tenant_id: UUID
    patient: str


@dataclass(frozen=True, slots=True)
class Redemption:
    """A valid refresh token: its locked row and session, and the answer already given if it was just used."""

    token: RefreshToken
    session: SignInSession
    answer: dict[str, Any] | None


def new_refresh_token() -> str:
    """Return a new random refresh token of more than 256 bits, so one SHA-256 is enough to store it."""
    return f"{REFRESH_PREFIX}{random_text(48)}"


def digest_of(token: str) -> str:
    """Return the digest that is stored of a refresh token."""
    return sha256_hex(token.encode(errors="surrogatepass"))


@needs_transaction
def start(
    *,
    user: User,
    client_id: str,
    scopes: list[str] | None,
    proof: Proof,
    at: datetime,
    session_id: UUID | None = None,
    bound: Bound | None = None,
) -> SignInSession:
    """Open a session. Only first-party sessions have `scopes` None, which does not limit the person's rights."""
    optional: dict[str, Any] = {"id": session_id} if session_id else {}
    if bound is not None:
        optional |= {"bound_tenant_id": bound.tenant_id, "patient": bound.patient}
    return SignInSession.objects.create(
        **optional,
        user=user,
        client_id=client_id,
        scopes=scopes,
        acr=proof.acr,
        amr=list(proof.amr),
        authenticated_at=proof.at,
        created_at=at,
        last_used_at=at,
        expires_at=at + ABSOLUTE,
    )


@needs_transaction
def store_refresh_token(session: SignInSession, *, token: str, at: datetime) -> None:
    """Add a refresh token to the session; only its digest is stored."""
    RefreshToken.objects.create(
        digest=digest_of(token),
        session=session,
        created_at=at,
        expires_at=min(at + IDLE, session.expires_at),
    )


def access_token(session: SignInSession, *, at: datetime, scopes: list[str] | None = None) -> str:
    """Sign an access token of the session; `scopes` limits it to some of the session's scopes."""
    granted = session.scopes if scopes is None else scopes
    return tokens.issue_access_token(
        subject_id=session.user_id,
        subject_kind=SubjectKind.USER,
        client_id=session.client_id,
        scopes=None if granted is None else " ".join(granted),
        session_id=session.id,
        acr=session.acr,
        amr=tuple(session.amr),
        authenticated_at=session.authenticated_at,
        tenant_id=session.bound_tenant_id,
        patient=session.patient,
        at=at,
    )


@needs_transaction
def redeem(token: str, *, client_id: str, at: datetime) -> Redemption | None:
    """Lock a refresh token and its session; return None if this client may not use the token now.

    Reuse, or a deactivated person, ends the session. So the caller must let the transaction commit before it refuses.
    """
    row = RefreshToken.objects.select_for_update().filter(digest=digest_of(token)).first()
    if row is None:
        return None
    session = SignInSession.objects.select_for_update(of=("self",)).select_related("user").get(pk=row.session_id)
    if session.client_id != client_id or session.ended_at is not None:
        return None
    if not session.user.is_active:
        end(session, reason="user_inactive", at=at)
        return None
    if row.used_at is not None:
        return _repeat_or_end(row, session, token, at)
    if row.expires_at <= at or session.expires_at <= at:
        return None
    return Redemption(row, session, None)


def _repeat_or_end(row: RefreshToken, session: SignInSession, token: str, at: datetime) -> Redemption | None:
    if row.sealed_answer is None or row.used_at is None or at - row.used_at > GRACE:
        end(session, reason="refresh_token_replayed", at=at)
        return None
    plain = key_ring().open(bytes(row.sealed_answer), purpose=_PURPOSE, place=token.encode())
    return Redemption(row, session, json.loads(plain))


@needs_transaction
def mark_used(redeemed: Redemption, *, token: str, answer: dict[str, Any], at: datetime) -> None:
    """Mark a token used and keep the answer for the grace period, sealed to this token."""
    row, session = redeemed.token, redeemed.session
    row.used_at = at
    row.sealed_answer = key_ring().seal(json.dumps(answer).encode(), purpose=_PURPOSE, place=token.encode())
    row.save(update_fields=["used_at", "sealed_answer"])
    session.last_used_at = at
    session.save(update_fields=["last_used_at"])


@needs_transaction
def end(session: SignInSession, *, reason: str, at: datetime) -> None:
    """End a session: its refresh tokens and access tokens are refused at once."""
    SignInSession.objects.filter(pk=session.pk, ended_at__isnull=True).update(ended_at=at, end_reason=reason)
    deny([str(session.pk)], at=at)


@needs_transaction
def end_all(user_id: UUID, *, reason: str, at: datetime, client_id: str | None = None) -> int:
    """End all sessions of a person, or only those of one client, and return how many were ended."""
    of_client = Q() if client_id is None else Q(client_id=client_id)
    still_open = SignInSession.objects.select_for_update().filter(of_client, user_id=user_id, ended_at__isnull=True)
    found = list(still_open.order_by("id").values_list("id", flat=True))
    SignInSession.objects.filter(id__in=found).update(ended_at=at, end_reason=reason)
    deny([str(session_id) for session_id in found], at=at)
    return len(found)


@needs_transaction
def deny(values: list[str], *, at: datetime) -> None:
    """Have tokens refused by their `jti` or `sid` until they expire."""
    rows = [DeniedToken(value=value, expires_at=at + DENIED_FOR) for value in sorted(values)]
    DeniedToken.objects.bulk_create(rows, update_conflicts=True, unique_fields=["value"], update_fields=["expires_at"])


def is_denied(*values: str) -> bool:
    """Return whether one of these token or session ids is denied."""
    return DeniedToken.objects.filter(value__in=values).exists()


def find_by_refresh_token(token: str, *, client_id: str) -> SignInSession | None:
    """Return the session of a refresh token, used or not, if it belongs to this client."""
    found = RefreshToken.objects.filter(digest=digest_of(token), session__client_id=client_id)
    row = found.select_related("session").first()
    return row.session if row else None
