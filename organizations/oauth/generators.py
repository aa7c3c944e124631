"""Generators of tokens, which oauthlib calls for a token response; `configuration` names one for each kind."""

from typing import Any

from core import clock
from core.actor import SubjectKind
from core.ids import uuid7
from organizations import tokens
from organizations.models import SignInSession
from organizations.signin import sessions
from organizations.signin.sessions import Bound, Proof

from .requests import state_of


def access_token(request: Any, refresh_token: bool = False) -> str:
    """Sign the access token of a request that oauthlib and the validator have accepted.

    :raises RuntimeError: the validator accepted a request without a grant; a programming error.
    """
    if request.grant_type == "client_credentials":
        return _machine_token(request)
    state, at = state_of(request), clock.now()
    if state.redeemed is not None:
        _add_patient(request, state.redeemed.session)
        if state.redeemed.answer is not None:
            return str(state.redeemed.answer["access_token"])
        return sessions.access_token(state.redeemed.session, at=at, scopes=request.scopes)
    if state.grant is None:
        raise RuntimeError("no grant was found for this request")
    grant = state.grant
    state.session = sessions.start(
        user=grant.user,
        client_id=request.client.client_id,
        scopes=list(request.scopes),
        proof=Proof(grant.acr, tuple(grant.amr), grant.authenticated_at or at),
        at=at,
        session_id=uuid7(),
        bound=Bound(grant.bound_tenant_id, grant.patient) if grant.bound_tenant_id and grant.patient else None,
    )
    _add_patient(request, state.session)
    return sessions.access_token(state.session, at=at)


def _add_patient(request: Any, session: SignInSession) -> None:
    """Add the session's patient to the token response.

    Source: SMART App Launch 2.0, scopes-and-launch-context.html, "launch context".
    """
    if session.patient:
        request.extra_credentials = {"patient": session.patient}


def refresh_token(request: Any, refresh_token: bool = False) -> str:
    """Return a new refresh token, or the one already given if the old one is reused within the grace period."""
    redeemed = state_of(request).redeemed
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
