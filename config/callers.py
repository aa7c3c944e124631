"""Whose request it is, before a thread looks: known from the requests that the same credential made before.

Until its first request is answered, a credential stands for itself; whoever makes credentials up is refused before he costs
much, and counted by address. Whoever shows none is his address.
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
        """Return the tenant of a request, or its credential where the tenant is not known, or its address without one."""
        shown = _shown(environ)
        if shown is None:
            return bucket_of(client_address(environ, trusted_proxies=settings.TRUSTED_PROXY_COUNT))
        return self._known.get(shown) or f"credential {shown[0]}"

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
