"""Middleware for browser pages only: sessions, sign-in, CSRF, static files. API requests skip it."""

from typing import Any
from urllib.parse import unquote

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from whitenoise.middleware import WhiteNoiseMiddleware

PREFIXES = ("/admin", "/oauth/authorize", "/oauth/login", "/oauth/logout", "/oauth/invitation", "/oauth/password")


def is_page(request: HttpRequest) -> bool:
    """Tell whether the path belongs to a page with a session."""
    return request.path_info.startswith(PREFIXES)


class _PagesOnly:
    """Mixin: the middleware runs for pages only; other requests pass unchanged."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        return super().__call__(request) if is_page(request) else self.get_response(request)  # type: ignore[misc]


class PageAddresses:
    """Refuses a page address that contains NUL, which PostgreSQL accepts in no text."""

    def __init__(self, get_response: Any) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> Any:
        """Pass the request on.

        :raises BadRequest: the address of a page contains NUL.
        """
        if is_page(request) and "\0" in request.path_info + unquote(request.META.get("QUERY_STRING", "")):
            raise BadRequest
        return self.get_response(request)


class PageSessions(_PagesOnly, SessionMiddleware):
    """Django's sessions, on pages."""


class PageCsrf(_PagesOnly, CsrfViewMiddleware):
    """Django's CSRF check, on pages; API requests carry their credential in a header."""

    def process_view(self, request: HttpRequest, *arguments: Any) -> Any:
        return super().process_view(request, *arguments) if is_page(request) else None


class PageSignIn(_PagesOnly, AuthenticationMiddleware):
    """Django's `request.user`, on pages."""


class PageMessages(_PagesOnly, MessageMiddleware):
    """Django's one-time messages, on pages."""


class PageFrames(_PagesOnly, XFrameOptionsMiddleware):
    """X-Frame-Options, on pages."""


class StaticFiles(WhiteNoiseMiddleware):
    """Stylesheets and scripts, under /static/ only."""

    def __call__(self, request: HttpRequest) -> Any:
        return super().__call__(request) if request.path_info.startswith("/static/") else self.get_response(request)
