"""Which scopes a client may ask for: those on its own list, in either spelling; never signing, for a machine.

Scopes of SMART may be on the list as well: `system/` of machines, `user/`, `patient/` and `launch/patient` of those who act
for people.
"""

from collections.abc import Iterable
from typing import Any

from oauth2_provider.scopes import BaseScopes

from organizations import smart
from organizations.models import OAuthApplication
from organizations.roles import IDENTITY_SCOPES, NEVER_BY_MACHINES, SCOPES

# A client that introspects the tokens of others has this on its list; it is never put into a token.
INTROSPECTION = "introspection"


def is_machine(application: Any) -> bool:
    """Tell whether the client acts for itself."""
    return bool(application.authorization_grant_type == OAuthApplication.GRANT_CLIENT_CREDENTIALS)


def grantable(application: Any) -> set[str]:
    """The scopes a client may get, written with dots."""
    listed = {_dotted(scope) for scope in application.allowed_scopes}
    machine = is_machine(application)
    of_record = {scope for scope in listed if smart.is_smart(scope, machine=machine)}
    if machine:
        return of_record | listed & set(SCOPES) - NEVER_BY_MACHINES
    return of_record | listed & (set(SCOPES) | set(IDENTITY_SCOPES))


def is_grantable(application: Any, scope: str) -> bool:
    """Tell whether a client may get a scope: one of its list, or a part of what SMART scopes on it give."""
    granted = grantable(application)
    return _dotted(scope) in granted or smart.is_within(scope, granted)


class _Described(dict[str, str]):
    """Scopes with what they allow; those of SMART are too many to be listed."""

    def __missing__(self, scope: str) -> str:
        found = smart.describe(scope)
        if found is None:
            raise KeyError(scope)
        return found


class ClientScopes(BaseScopes):  # type: ignore[misc]  # the library has no types
    """The library asks here for all scopes, for those of a client, and for those of a request that names none."""

    def get_all_scopes(self) -> dict[str, str]:
        """Every scope there is, in both spellings, with what it allows."""
        known = SCOPES | IDENTITY_SCOPES
        return _Described(known | {_with_colon(scope): text for scope, text in known.items()})

    def get_available_scopes(self, application: Any = None, request: Any = None, *_: Any, **__: Any) -> list[str]:
        """What this client may ask for."""
        if application is None:
            return sorted({*SCOPES, *IDENTITY_SCOPES})
        return sorted(_both_spellings(grantable(application)))

    def get_default_scopes(self, application: Any = None, request: Any = None, *_: Any, **__: Any) -> list[str]:
        """A machine that names no scope gets its whole list; a person consents to named scopes only."""
        if application is None or not is_machine(application):
            return []
        return sorted(grantable(application))


def _dotted(scope: str) -> str:
    return scope.replace(":", ".")


def _with_colon(scope: str) -> str:
    return scope.replace(".", ":", 1)


def _both_spellings(scopes: Iterable[str]) -> set[str]:
    return {spelled for scope in scopes for spelled in (scope, _with_colon(scope))}
