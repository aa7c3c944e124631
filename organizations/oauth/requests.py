"""Parameters that are passed to oauthlib, and the platform's own state of an oauthlib request.

oauthlib exposes every parameter that a client sends as an attribute of its request, so `request.session` could be the
client's value. Therefore only known parameters are passed on, and the platform's state is kept where no parameter can
replace it.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from django.http import HttpRequest, QueryDict
from oauth2_provider.oauth2_backends import OAuthLibCore

from organizations.models import AuthorizationGrant, SignInSession
from organizations.signin.sessions import Proof, Redemption

MAX_PARAMETER = 8192
SIGNED_IN = "platform.signed_in"
ASSERTED = "platform.asserted_client"
BODY_PARAMETERS = frozenset(
    [
        "grant_type",
        "code",
        "redirect_uri",
        "client_id",
        "client_secret",
        "client_assertion",
        "client_assertion_type",
        "code_verifier",
        "refresh_token",
        "scope",
        "token",
        "token_type_hint",
    ]
)
QUERY_PARAMETERS = frozenset(
    [
        "response_type",
        "client_id",
        "redirect_uri",
        "scope",
        "state",
        "nonce",
        "prompt",
        "code_challenge",
        "code_challenge_method",
    ]
)


@dataclass(slots=True)
class RequestState:
    """Rows found while a request is validated, for the later steps of the same request."""

    grant: AuthorizationGrant | None = None
    session: SignInSession | None = None
    redeemed: Redemption | None = None
    presented: str = ""
    proof: Proof | None = None

    def current_session(self) -> SignInSession:
        """Return the session of the token response.

        :raises RuntimeError: no session is open yet; a programming error.
        """
        session = self.redeemed.session if self.redeemed else self.session
        if session is None:
            raise RuntimeError("no session was opened for this request")
        return session


def state_of(request: Any) -> RequestState:
    """Return the platform's state of this oauthlib request."""
    state: RequestState = vars(request).setdefault("platform_state", RequestState())
    return state


class FormBackend(OAuthLibCore):  # type: ignore[misc]  # the library has no types
    """The library's bridge to oauthlib; it passes only known parameters. Source: RFC 6749 section 3.1, "ignore"."""

    def extract_headers(self, request: HttpRequest) -> dict[str, Any]:
        """Return the headers and, under names that no client can send, what the platform knows of the caller.

        That is whether the browser is signed in, and the id of the client whose assertion was accepted.
        """
        user = getattr(request, "user", None)
        headers: dict[str, Any] = super().extract_headers(request)
        return headers | {
            SIGNED_IN: "yes" if user is not None and user.is_authenticated else "no",
            ASSERTED: getattr(request, "asserted_client", ""),
        }

    def extract_body(self, request: HttpRequest) -> list[tuple[str, str]]:
        """Return the known parameters of the form."""
        return [(name, value) for name, values in request.POST.lists() if name in BODY_PARAMETERS for value in values]

    def _get_escaped_full_path(self, request: HttpRequest) -> str:
        parts = urlsplit(request.get_full_path())
        # At the endpoints that take forms, oauthlib itself refuses a query.
        known = QUERY_PARAMETERS if request.path.endswith("/authorize") else None
        pairs = [pair for pair in parse_qsl(parts.query) if known is None or pair[0] in known]
        return urlunsplit(parts._replace(query=urlencode(pairs)))


def fault_in(parameters: QueryDict, *, known: frozenset[str]) -> str:
    """Return what is wrong with the form of the known parameters; "" if nothing is.

    A parameter given twice is refused. Source: RFC 6749 section 3.1.
    """
    for name, values in parameters.lists():
        if name not in known:
            continue
        if len(values) > 1:
            return f"The parameter {name} is repeated."
        if "\0" in values[0] or len(values[0]) > MAX_PARAMETER:
            return f"The parameter {name} is malformed."
    return ""
