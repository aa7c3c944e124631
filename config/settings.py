"""Settings of every environment; values come from the environment (12-factor). `.env.example` lists them all."""

from pathlib import Path
from typing import Any

import environ
from django.urls import reverse_lazy

from api import logs
from config import api_tags
from config.mails import mail_settings
from config.stores import store_settings
from organizations.oauth import configuration as oauth

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

PRODUCTION = env.bool("PRODUCTION", default=True)
DEBUG = False
SECRET_KEY = env.str("SECRET_KEY")
FIELD_ENCRYPTION_KEYS = env.str("FIELD_ENCRYPTION_KEYS")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
BASE_URL = env.str("BASE_URL", default="http://127.0.0.1:8000")
FHIR_BASE_URL = env.str("FHIR_BASE_URL", default=f"{BASE_URL}/fhir/R4")
DATA_DIR = Path(env.str("DATA_DIR", default=str(BASE_DIR / ".local")))
TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXY_COUNT", default=0)
WEB_WORKERS = env.int("WEB_WORKERS", default=2)
METRICS_PORT = env.int("METRICS_PORT", default=0)
LANES = env.int("LANES", default=1)
DEMO_DATA = env.bool("DEMO_DATA", default=False)

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
FORMAT_MODULE_PATH = ["config.formats"]
LANGUAGE_CODE = "en-us"
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
AUTH_USER_MODEL = "organizations.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
APPEND_SLASH = False
DATA_UPLOAD_MAX_MEMORY_SIZE = None  # config.front and api.body limit the size of bodies, by path

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "organizations.staff.apps.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "oauth2_provider",
    "corsheaders",
    "ledger",
    "api",
    "organizations",
    "fhir_api",
    "suppliers",
    "appointments",
    "prescriptions",
    "webhooks",
    "procurement",
    "config",
]
MIDDLEWARE = [
    "config.compression.Compression",
    "api.middleware.Edge",
    *(["corsheaders.middleware.CorsMiddleware"] if env.list("CORS_ALLOWED_ORIGINS", default=[]) else []),
    "config.pages.StaticFiles",
    "config.pages.PageAddresses",
    "config.pages.PageSessions",
    "config.pages.PageCsrf",
    "config.pages.PageSignIn",
    "config.pages.PageMessages",
    "config.pages.PageFrames",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "config" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

_GUARDS = "-c statement_timeout=5000 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=30000"
# docs/decisions/0057-plans-without-tenants.md, 0062-forms-planned-once.md
_PLANNING = "-c enable_seqscan=off -c enable_bitmapscan=off -c plan_cache_mode=force_generic_plan -c jit=off"


def _database(name: str, default: str, *, keep: bool) -> dict[str, Any]:
    found: dict[str, Any] = env.db_url(name, default=env.str(default))
    found["ENGINE"] = "django.db.backends.postgresql"
    found["CONN_HEALTH_CHECKS"] = False
    options = found.setdefault("OPTIONS", {})
    if keep:
        options["options"] = f"{_GUARDS} {_PLANNING}"
        if size := env.int("DATABASE_POOL_SIZE", default=0):
            options["pool"] = {"min_size": 1, "max_size": size, "timeout": 5}
        else:  # each thread keeps its own: docs/decisions/0021-connections.md
            found["CONN_MAX_AGE"] = env.int("DATABASE_CONNECTION_SECONDS", default=3600)
    found["TEST"] = {"MIGRATE": False}
    return found


DATABASES = {
    "default": _database("DATABASE_URL", "DATABASE_URL", keep=True),
    "owner": _database("DATABASE_OWNER_URL", "DATABASE_URL", keep=False),
    "platform": _database("DATABASE_PLATFORM_URL", "DATABASE_URL", keep=False),
}

REDIS_URL = env.str("REDIS_URL")
CELERY = {
    "broker_url": env.str("CELERY_BROKER_URL", default="")
    or REDIS_URL.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host="),
    "task_ignore_result": True,
    "task_acks_late": False,
    "worker_prefetch_multiplier": 1,
    "broker_connection_retry_on_startup": True,
    "broker_transport_options": {"visibility_timeout": 3600, "socket_timeout": 5, "socket_connect_timeout": 2},
    "worker_hijack_root_logger": False,
    "timezone": "UTC",
}

CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
MAIL_FOLDER = DATA_DIR / "mail"
vars().update(mail_settings(env, production=PRODUCTION))
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="no-reply@localhost")
SERVER_EMAIL = DEFAULT_FROM_EMAIL

PASSWORD_HASHERS = [
    "organizations.signin.hashers.PersonPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "organizations.oauth.hashers.ClientSecretHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/oauth/login"
LOGIN_REDIRECT_URL = "/admin/"  # where a sign-in leads that names no safe address

# Sessions serve the admin and the consent page only.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 8 * 3600
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
CSRF_TRUSTED_ORIGINS = [BASE_URL]
SECURE_SSL_REDIRECT = False  # an API request over plain HTTP is refused, never redirected: api.middleware.Edge
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXY_COUNT else None
X_FRAME_OPTIONS = "DENY"
# These checks expect Django's own middleware; api.middleware.Edge sets the headers, config.pages checks CSRF on pages.
SILENCED_SYSTEM_CHECKS = ["security.W001", "security.W002", "security.W003"]
CORS_ALLOWED_ORIGINS = env.list("CORS_ALLOWED_ORIGINS", default=[])
CORS_URLS_REGEX = r"^/(v1|fhir|oauth)/.*$"
CORS_ALLOW_HEADERS = [
    *("accept", "authorization", "content-type", "idempotency-key", "if-match", "if-modified-since", "if-none-exist"),
    *("if-none-match", "prefer", "traceparent", "x-api-key", "x-break-glass-reason", "x-membership-id", "x-request-id"),
    "x-tenant-id",
]
CORS_EXPOSE_HEADERS = [
    *("ETag", "Idempotency-Replayed", "Last-Modified", "Link", "Location", "Content-Location", "Retry-After"),
    *("RateLimit-Limit", "RateLimit-Policy", "RateLimit-Remaining", "RateLimit-Reset", "X-Request-Id"),
]

vars().update(store_settings(env, data_dir=DATA_DIR))
FILES_BASE_URL = env.str("FILES_BASE_URL", default="")
CLAMAV_URL = env.str("CLAMAV_URL", default="")

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
WHITENOISE_USE_FINDERS = True  # no collectstatic: files are served from the packages themselves

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["api.permissions.Denied"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "api.openapi.Inspector",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Healthcare Platform API",
    "VERSION": "1.0.0",
    "LICENSE": {"name": "Proprietary", "identifier": "LicenseRef-Proprietary"},
    "CONTACT": api_tags.CONTACT,
    "SERVERS": [{"url": "/", "description": "The service that answers this document."}],
    "TAGS": api_tags.TAGS,
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SWAGGER_UI_SETTINGS": {
        "deepLinking": True,
        "docExpansion": "none",
        "filter": True,
        "defaultModelsExpandDepth": -1,
        "defaultModelExpandDepth": 2,
        "displayRequestDuration": True,
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "PREPROCESSING_HOOKS": ["api.openapi.only_the_api"],
    "POSTPROCESSING_HOOKS": ["webhooks.reference.openapi.add_webhooks", "api.openapi.complete"],
}

# Named by string, so that `api` does not import `organizations`, which builds on it.
API_AUTHENTICATOR = "organizations.authentication.Authenticator"

OAUTH2_PROVIDER = oauth.oauth2_provider(BASE_URL)
OAUTH2_PROVIDER_APPLICATION_MODEL = "organizations.OAuthApplication"
OAUTH2_PROVIDER_GRANT_MODEL = "organizations.AuthorizationGrant"
SIMPLE_JWT = oauth.simple_jwt(BASE_URL)

RATE_LIMITS_ENABLED = env.bool("RATE_LIMITS_ENABLED", default=True)
RATE_LIMIT_OVERRIDES = {
    name.removeprefix("RATE_LIMIT_").removesuffix("_PER_MINUTE").lower(): int(value)
    for name, value in env.ENVIRON.items()
    if name.startswith("RATE_LIMIT_") and name.endswith("_PER_MINUTE")
}
WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = env.bool("WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS", default=False)
WEBHOOKS_PORTS = env.list("WEBHOOKS_PORTS", cast=int, default=[])
WEBHOOKS_PROXY_URL = env.str("WEBHOOKS_PROXY_URL", default="")
WEBHOOKS_CA_FILE = env.str("WEBHOOKS_CA_FILE", default="")
WEBHOOKS_RESOLVER = env.str("WEBHOOKS_RESOLVER", default="aiohttp.ThreadedResolver")
WEBHOOKS_TIMEOUT_SECONDS = env.float("WEBHOOKS_TIMEOUT_SECONDS", default=15)
WEBHOOKS_LEASE_SECONDS = env.float("WEBHOOKS_LEASE_SECONDS", default=60)
WEBHOOKS_BODIES_DAYS = env.int("WEBHOOKS_BODIES_DAYS", default=90)
WEBHOOKS_HISTORY_DAYS = env.int("WEBHOOKS_HISTORY_DAYS", default=365)
FHIR_ACCESS_DAYS = env.int("FHIR_ACCESS_DAYS", default=2190)
FHIR_EXPORT_HOURS = env.int("FHIR_EXPORT_HOURS", default=24)
FHIR_PROJECTIONS = env.bool("FHIR_PROJECTIONS", default=True)
WEBHOOKS_RETRY_SCHEDULE_SECONDS = env.list("WEBHOOKS_RETRY_SCHEDULE_SECONDS", cast=int, default=[])
WEBHOOKS_EGRESS_CIDRS = env.list("WEBHOOKS_EGRESS_CIDRS", default=[])

UNFOLD = {
    "SITE_TITLE": "Healthcare Platform",
    "SITE_HEADER": "Healthcare Platform",
    "SITE_SUBHEADER": "Staff",
    "SITE_SYMBOL": "local_hospital",
    "SITE_URL": None,
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": f"{STATIC_URL}staff/icon.svg"}],
    "STYLES": [f"{STATIC_URL}staff/staff.css"],
    "SCRIPTS": [f"{STATIC_URL}staff/keyboard.js"],
    "BORDER_RADIUS": "6px",
    "COLORS": {
        "primary": {
            "50": "oklch(98% .014 200)",
            "100": "oklch(95% .03 200)",
            "200": "oklch(91% .05 200)",
            "300": "oklch(85% .08 205)",
            "400": "oklch(74% .11 210)",
            "500": "oklch(62% .11 213)",
            "600": "oklch(50% .09 215)",
            "700": "oklch(44% .08 216)",
            "800": "oklch(38% .07 218)",
            "900": "oklch(33% .06 220)",
            "950": "oklch(25% .05 222)",
        }
    },
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "show_all_applications": False,
        "navigation": "config.admin_site.navigation",
    },
    "DASHBOARD_CALLBACK": "config.admin_site.overview",
    "ACCOUNT": {
        "navigation": [
            {"title": "Change password", "link": reverse_lazy("admin:password_change")},
            {"title": "Second factor", "link": reverse_lazy("admin:second_factor")},
        ]
    },
}

LOG_LEVEL = env.str("LOG_LEVEL", default="INFO")
LOGGING_CONFIG = None
logs.configure(LOG_LEVEL)
