"""What oauthlib asks for when it writes a token answer. Each kind of token has its own generator; see `configuration`."""

from typing import Any

from core import clock
from core.actor import SubjectKind
from core.ids import uuid7
from organizations import tokens
from organizations.models import SignInSession
from organizations.signin import sessions
from organizations.signin.sessions import Bound, Proof

from .requests import carried


def access_token(request: Any, refresh_token: bool = False) -> str:
    """Sign the access token of a request that oauthlib and the validator have found good.

    :raises RuntimeError: the validator let a request pass without a grant; a programming error.
    """
    if request.grant_type == "client_credentials":
        return _machine_token(request)
    known, at = carried(request), clock.now()
    if known.redeemed is not None:
        _tell_patient(request, known.redeemed.session)
        if known.redeemed.answer is not None:
            return str(known.redeemed.answer["access_token"])
        return sessions.access_token(known.redeemed.session, at=at, scopes=request.scopes)
    if known.grant is None:
        raise RuntimeError("no grant was found for this request")
    grant = known.grant
    known.session = sessions.start(
        user=grant.user,
        client_id=request.client.client_id,
        scopes=list(request.scopes),
        proof=Proof(grant.acr, tuple(grant.amr), grant.authenticated_at or at),
        at=at,
        session_id=uuid7(),
        bound=Bound(grant.bound_tenant_id, grant.patient) if grant.bound_tenant_id and grant.patient else None,
    )
    _tell_patient(request, known.session)
    return sessions.access_token(known.session, at=at)


def _tell_patient(request: Any, session: SignInSession) -> None:
    """Add to the answer whose record it is. Source: SMART App Launch 2.0, scopes-and-launch-context.html, "launch context"."""
    if session.patient:
        request.extra_credentials = {"patient": session.patient}


def refresh_token(request: Any, refresh_token: bool = False) -> str:
    """Draw the refresh token, or repeat the one already given within the grace."""
    redeemed = carried(request).redeemed
    if redeemed is not None and redeemed.answer is not None:
        return str(redeemed.answer["refresh_token"])
    return sessions.new_refresh_token()


def _machine_token(request: Any) -> str:
    client = request.client
    return tokens.issue_access_token(
        subject_id=client.service_account_id,
        subject_kind=SubjectKind.SERVICE,
        client_id=client.client_id,
        scopes=" ".join(request.scopes),
        session_id=client.family,
        tenant_id=client.tenant_id,
        at=clock.now(),
    )
