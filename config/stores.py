"""Where files are kept: a folder, or a bucket that speaks S3, as `STORAGE_URL` says.

(empty)                                                     the folder `files` in DATA_DIR
file:///srv/files                                           a folder
s3://KEY:SECRET@bucket/prefix?region=eu-central-1           a bucket of AWS; without KEY boto3's own sources of credentials
s3://KEY:SECRET@bucket?endpoint=https://minio.example.org   any other server of S3
"""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

_STATIC = "django.contrib.staticfiles.storage.StaticFilesStorage"
_FOLDER = "django.core.files.storage.FileSystemStorage"
_S3 = "config.s3_store.S3Store"
_FORMS = "file:///folder or s3://key:secret@bucket/prefix?region=…&endpoint=…"


def store_settings(env: environ.Env, *, data_dir: Path) -> dict[str, Any]:
    """Return Django's setting STORAGES with the store `files`.

    :raises ImproperlyConfigured: STORAGE_URL has neither form.
    """
    address: str = env.str("STORAGE_URL", default="").strip()
    parts = urlsplit(address)
    if parts.scheme in ("", "file") and not parts.netloc:
        files = _folder(Path(unquote(parts.path)) if address else data_dir / "files")
    elif parts.scheme == "s3" and parts.hostname:
        files = {"BACKEND": _S3, "OPTIONS": _bucket(address)}
    else:
        raise ImproperlyConfigured(f"STORAGE_URL must be {_FORMS}.")
    default = {"BACKEND": _FOLDER, "OPTIONS": {"location": str(data_dir / "unused")}}
    return {"STORAGES": {"default": default, "staticfiles": {"BACKEND": _STATIC}, "files": files}}


def _folder(location: Path) -> dict[str, Any]:
    if not location.is_absolute():
        raise ImproperlyConfigured(f"STORAGE_URL must be {_FORMS}.")
    return {
        "BACKEND": _FOLDER,
        "OPTIONS": {
            "location": str(location),
            "allow_overwrite": True,
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    }


def _bucket(address: str) -> dict[str, Any]:
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query))
    if unknown := sorted(set(query) - {"region", "endpoint"}):
        raise ImproperlyConfigured(f"STORAGE_URL has unknown options: {', '.join(unknown)}.")
    found: dict[str, Any] = {
        "bucket_name": parts.hostname,
        "location": parts.path.strip("/"),
        "region_name": query.get("region"),
        "endpoint_url": query.get("endpoint"),
        "file_overwrite": True,
        "default_acl": None,
        "signature_version": "s3v4",
        "addressing_style": "path" if "endpoint" in query else "auto",
    }
    if parts.username:
        found |= {"access_key": unquote(parts.username), "secret_key": unquote(parts.password or "")}
    return found
