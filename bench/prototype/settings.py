"""Settings of the prototype: one connection of each thread that stays open, and next to no middleware."""

from config.settings import *  # noqa: F403
from config.settings import DATABASES, SECRET_KEY

ROOT_URLCONF = "bench.prototype.views"
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware", "bench.prototype.views.mark"]

_platform = DATABASES["platform"]
_options = {
    **_platform["OPTIONS"],
    "options": f"{_platform['OPTIONS'].get('options', '')} -c search_path=prototype,public",
}
DATABASES = {"default": {**_platform, "CONN_MAX_AGE": None, "OPTIONS": _options}}
REST_FRAMEWORK = {"UNAUTHENTICATED_USER": None}
SIGNING_KEY = SECRET_KEY
