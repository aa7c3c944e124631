"""The parts of the address space and the security headers each of them needs.

Every address that is not named here belongs to the API: its answers may load nothing, run no script and not be cached.
"""

from dataclasses import dataclass, field

from django.http.response import ResponseHeaders

_NO_FRAME = "frame-ancestors 'none'; base-uri 'none'"
_PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    f"font-src 'self' data:; connect-src 'self'; {_NO_FRAME}"
)
_COMMON = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    # not "no-referrer": browsers then send "Origin: null" with forms, which the CSRF check of the pages must refuse
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_SAME_ORIGIN = ("Cross-Origin-Resource-Policy", "same-origin")
# Browsers of allowed origins read the API through CORS.
_CROSS_ORIGIN = ("Cross-Origin-Resource-Policy", "cross-origin")
_NO_STORE = ("Cache-Control", "no-store")


@dataclass(frozen=True, slots=True)
class Area:
    """How the edge treats one part of the address space.

    `limited` areas count callers without a credential by address; `problems` are the statuses whose HTML bodies are
    replaced by problem documents, or by the renderer of `errors.render_refusals` (None: all errors). `pages` marks
    areas that need sessions, sign-in or templates.
    """

    name: str
    headers: tuple[tuple[str, str], ...]
    limited: bool = True
    https: bool = True
    problems: frozenset[int] | None = None
    pages: bool = True
    stored: dict[str, tuple[str, str]] = field(init=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Check the headers once, and keep them as Django's answers do."""
        self.stored.update(ResponseHeaders(dict(self.headers))._store)


def _policy(text: str) -> tuple[str, str]:
    return ("Content-Security-Policy", text)


_SILENT = _policy(f"default-src 'none'; {_NO_FRAME}; form-action 'none'")

API = Area("api", (*_COMMON, _CROSS_ORIGIN, _NO_STORE, _SILENT), pages=False)
FHIR = Area("fhir", (*_COMMON, _CROSS_ORIGIN, _NO_STORE, _SILENT), pages=False)
HEALTH = Area("health", (*_COMMON, _SAME_ORIGIN, _NO_STORE, _SILENT), limited=False, https=False, pages=False)
# The consent page posts to itself and is then sent on to the client's redirect URI, which form-action would forbid.
OAUTH = Area("oauth", (*_COMMON, _CROSS_ORIGIN, _NO_STORE, _policy(_PAGE)), problems=frozenset({404, 405, 500}))
# Redoc searches in a worker made from a blob.
DOCS = Area(
    "docs",
    (*_COMMON, _SAME_ORIGIN, _policy(f"{_PAGE}; worker-src 'self' blob:; form-action 'none'")),
    problems=frozenset({404, 405, 500}),
)
# The theme evaluates expressions in attributes (Alpine), so the admin alone may use eval.
ADMIN = Area(
    "admin",
    (
        *_COMMON,
        _SAME_ORIGIN,
        _policy(_PAGE.replace("script-src 'self'", "script-src 'self' 'unsafe-eval'") + "; form-action 'self'"),
    ),
    limited=False,
    problems=frozenset(),
)
# Of a developer's machine only; a page without scripts.
DEVELOPMENT = Area(
    "dev",
    (
        *_COMMON,
        _SAME_ORIGIN,
        _NO_STORE,
        _policy(f"default-src 'none'; style-src 'unsafe-inline'; {_NO_FRAME}; form-action 'none'"),
    ),
)
STATIC = Area("static", (*_COMMON, _SAME_ORIGIN, _SILENT), limited=False, problems=frozenset())

# What stands below is opened by a signed link, which is the credential.
SIGNED = "/v1/files/content/"

_BY_FIRST_SEGMENT = {
    "fhir": FHIR,
    "health": HEALTH,
    "oauth": OAUTH,
    "docs": DOCS,
    "admin": ADMIN,
    "dev": DEVELOPMENT,
    "static": STATIC,
}


def area_of(path: str) -> Area:
    """Return the area of an address."""
    return _BY_FIRST_SEGMENT.get(path[1:].partition("/")[0], API)
