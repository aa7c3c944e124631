"""The scopes that a client may ask for: those on its own list, in both spellings; for a machine client, never signing.

The list may also hold SMART scopes: `system/` for machine clients; `user/`, `patient/` and `launch/patient` for clients
that act for people.
"""

from collections.abc import Iterable
from typing import Any

from oauth2_provider.scopes import BaseScopes

from organizations import smart
from organizations.models import OAuthApplication
from organizations.roles import IDENTITY_SCOPES, NEVER_BY_MACHINES, SCOPES

# A client with this on its list may introspect other clients' tokens; the scope itself is never put into a token.
INTROSPECTION = "introspection"


def is_machine(application: Any) -> bool:
    """Return whether the client acts as a service account."""
    return bool(application.authorization_grant_type == OAuthApplication.GRANT_CLIENT_CREDENTIALS)


def grantable(application: Any) -> set[str]:
    """Return the scopes that a client may get, written with dots."""
    listed = {_dotted(scope) for scope in application.allowed_scopes}
    machine = is_machine(application)
    of_record = {scope for scope in listed if smart.is_smart(scope, machine=machine)}
    if machine:
        return of_record | listed & set(SCOPES) - NEVER_BY_MACHINES
    return of_record | listed & (set(SCOPES) | set(IDENTITY_SCOPES))


def is_grantable(application: Any, scope: str) -> bool:
    """Return whether a client may get a scope: one on its list, or one that a SMART scope on its list includes."""
    granted = grantable(application)
    return _dotted(scope) in granted or smart.is_within(scope, granted)


class _Described(dict[str, str]):
    """Descriptions by scope; those of SMART scopes, which are too many to list, are made when asked for."""

    def __missing__(self, scope: str) -> str:
        description = smart.describe(scope)
        if description is None:
            raise KeyError(scope)
        return description


class ClientScopes(BaseScopes):  # type: ignore[misc]  # the library has no types
    """The library's source of scopes: all scopes, those of a client, and those of a request that names none."""

    def get_all_scopes(self) -> dict[str, str]:
        """Return every scope in both spellings, with its description."""
        known = SCOPES | IDENTITY_SCOPES
        return _Described(known | {_with_colon(scope): text for scope, text in known.items()})

    def get_available_scopes(self, application: Any = None, request: Any = None, *_: Any, **__: Any) -> list[str]:
        """Return the scopes that a client may ask for, in both spellings."""
        if application is None:
            return sorted({*SCOPES, *IDENTITY_SCOPES})
        return sorted(_both_spellings(grantable(application)))

    def get_default_scopes(self, application: Any = None, request: Any = None, *_: Any, **__: Any) -> list[str]:
        """Return a machine client's whole list; a client that acts for people must name its scopes."""
        if application is None or not is_machine(application):
            return []
        return sorted(grantable(application))


def _dotted(scope: str) -> str:
    return scope.replace(":", ".")


def _with_colon(scope: str) -> str:
    return scope.replace(".", ":", 1)


def _both_spellings(scopes: Iterable[str]) -> set[str]:
    return {spelled for scope in scopes for spelled in (scope, _with_colon(scope))}
