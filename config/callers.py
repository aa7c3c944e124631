"""Whose request it is, before a thread looks: known from the requests that the same credential made before.

Until a credential is proved, the caller is its address: whoever makes credentials up gets one turn, not one for each.
"""

from typing import Any

from django.conf import settings

from api.addresses import bucket_of, client_address
from api.transport import CREDENTIAL, TENANT

_MOST = 50_000
_Environ = dict[str, Any]


class Callers:
    """The tenants of the credentials that were proved in this process."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], str] = {}  # no credential is kept, only its hash of this process

    def key_of(self, environ: _Environ) -> str:
        """Return the tenant of a request, or the credential where it names none, or the address of an unknown caller."""
        shown = _shown(environ)
        known = self._known.get(shown) if shown else None
        return known or bucket_of(client_address(environ, trusted_proxies=settings.TRUSTED_PROXY_COUNT))

    def learn(self, environ: _Environ, status: int) -> None:
        """Remember what an answered request has proved, and forget a credential that was refused.

        A request that was ended early has proved nothing, and refutes nothing either.
        """
        shown = _shown(environ)
        if shown is None:
            return
        proved = environ.get(TENANT) or environ.get(CREDENTIAL)
        if proved is None:
            if status in (401, 403):
                self._known.pop(shown, None)
        elif shown not in self._known:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[shown] = proved


def _shown(environ: _Environ) -> tuple[int, str] | None:
    credential = environ.get("HTTP_AUTHORIZATION") or environ.get("HTTP_X_API_KEY")
    return (hash(credential), environ.get("HTTP_X_TENANT_ID", "")) if credential else None
