"""Settings of the stock views: the same database and Valkey, none of the platform's own path. Never used by the product.

What a stock project would leave slower is given away: no middleware, connections that stay open, no row security.
"""

from config.settings import *  # noqa: F403
from config.settings import DATABASES, REDIS_URL, SECRET_KEY

ROOT_URLCONF = "bench.stock"
MIDDLEWARE: list[str] = []

_open = {**DATABASES["platform"], "CONN_MAX_AGE": None}
DATABASES = {"default": _open}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}

SIMPLE_JWT = {"ALGORITHM": "HS256", "SIGNING_KEY": SECRET_KEY, "USER_ID_CLAIM": "user_id"}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework_simplejwt.authentication.JWTStatelessUserAuthentication"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "UNAUTHENTICATED_USER": None,
}
