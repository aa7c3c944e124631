"""What goes into oauthlib and what our code hangs on its request while it is judged.

oauthlib lets every parameter a client sends be read as an attribute of its request, so `request.session` may be a word of
the caller's. Hence only parameters that mean something are let in, and our own things stand where no parameter reaches.
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
BODY_PARAMETERS = frozenset(
    [
        "grant_type",
        "code",
        "redirect_uri",
        "client_id",
        "client_secret",
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
class Carried:
    """Rows found while judging, for the steps that follow."""

    grant: AuthorizationGrant | None = None
    session: SignInSession | None = None
    redeemed: Redemption | None = None
    presented: str = ""
    proof: Proof | None = None

    def current_session(self) -> SignInSession:
        """The session the answer belongs to.

        :raises RuntimeError: asked too early, a programming error.
        """
        found = self.redeemed.session if self.redeemed else self.session
        if found is None:
            raise RuntimeError("no session was opened for this request")
        return found


def carried(request: Any) -> Carried:
    """What our code hung on this oauthlib request."""
    found: Carried = vars(request).setdefault("platform_carried", Carried())
    return found


class FormBackend(OAuthLibCore):  # type: ignore[misc]  # the library has no types
    """The library's bridge to oauthlib, which lets known parameters pass only. Source: RFC 6749 section 3.1, "ignore"."""

    def extract_headers(self, request: HttpRequest) -> dict[str, Any]:
        """The headers, and whether this browser is signed in; no client can send a name like that."""
        user = getattr(request, "user", None)
        found: dict[str, Any] = super().extract_headers(request)
        return found | {SIGNED_IN: "yes" if user is not None and user.is_authenticated else "no"}

    def extract_body(self, request: HttpRequest) -> list[tuple[str, str]]:
        """Known parameters of the form."""
        return [(name, value) for name, values in request.POST.lists() if name in BODY_PARAMETERS for value in values]

    def _get_escaped_full_path(self, request: HttpRequest) -> str:
        parts = urlsplit(request.get_full_path())
        # At the endpoints that take forms, oauthlib itself refuses a query.
        known = QUERY_PARAMETERS if request.path.endswith("/authorize") else None
        pairs = [pair for pair in parse_qsl(parts.query) if known is None or pair[0] in known]
        return urlunsplit(parts._replace(query=urlencode(pairs)))


def fault_in(parameters: QueryDict, *, known: frozenset[str]) -> str:
    """Say what is wrong with the form of the parameters that mean something; "" if nothing is.

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
