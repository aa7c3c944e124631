"""The environment of every process that `./dev` starts: database URLs, secrets generated once, defaults."""

import base64
import json
import os
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from . import embedded, roles
from .keeper import write_privately
from .places import ROOT, Places
from .trouble import Trouble

DATABASE = "hp"
_FIRST_ADDRESS = "http://127.0.0.1:8000"


@dataclass(frozen=True)
class Backends:
    """PostgreSQL and Valkey as this run uses them: embedded, given by URL, or one of each."""

    places: Places
    servers: embedded.Servers | None
    cluster: roles.Cluster | None
    given_urls: Mapping[str, str]
    given_redis: str
    database: str

    def database_urls(self, database: str | None = None) -> dict[str, str]:
        """Return the three database URLs, for the service's database or another one of the same server."""
        name = database or self.database
        if self.cluster:
            return self.cluster.urls(name)
        return {key: roles.with_parts(url, database=name) for key, url in self.given_urls.items()}

    def administration(self) -> roles.Cluster:
        """Return the cluster on which to create and drop databases, as the administrator, else as the owner."""
        return self.cluster or roles.Cluster(self.given_urls["DATABASE_OWNER_URL"], {})

    def redis_url(self, number: int = 0) -> str:
        """Return the URL of a numbered Valkey database."""
        if self.servers and not self.given_redis:
            return self.servers.redis_url(number=number)
        given = urlsplit(self.given_redis)
        if number == 0:
            return given.geturl()
        if given.scheme == "unix":
            return given._replace(query=f"db={number}").geturl()
        return given._replace(path=f"/{number}").geturl()

    def release(self, *, at_once: bool = False) -> None:
        """Stop using the embedded servers."""
        if self.servers:
            self.servers.release(at_once=at_once)


def open_backends(places: Places, *, database: str = DATABASE) -> Backends:
    """Start or join the servers that are not given by URL, and create missing roles and the database.

    :raises Trouble: a server does not start or cannot be reached, or the given role lacks a right.
    """
    given, redis = os.environ.get("DATABASE_URL", ""), os.environ.get("REDIS_URL", "")
    servers = None if given and redis else embedded.attach(places)
    try:
        return _with_database(places, servers=servers, given=given, redis=redis, database=database)
    except BaseException:
        if servers:
            servers.release(at_once=True)
        raise


def _with_database(
    places: Places, *, servers: embedded.Servers | None, given: str, redis: str, database: str
) -> Backends:
    if not given and servers:
        cluster = roles.Cluster(servers.database_url(database="postgres"), {})
        roles.ensure_roles(cluster)
        roles.ensure_database(cluster, database)
        return Backends(places, servers, cluster, {}, redis, database)
    name = roles.database_of(given)
    owner = os.environ.get("DATABASE_OWNER_URL", "")
    if owner:
        roles.check_version(given)
        urls = {"DATABASE_URL": given, "DATABASE_OWNER_URL": owner}
        urls["DATABASE_PLATFORM_URL"] = os.environ.get("DATABASE_PLATFORM_URL") or owner
        return Backends(places, servers, None, urls, redis, name)
    administration = roles.administration_url(given)
    roles.check_version(administration)
    if not roles.is_administrator(administration):
        raise Trouble(
            "DATABASE_URL alone must belong to a role that may create roles; else set DATABASE_OWNER_URL and DATABASE_PLATFORM_URL too."
        )
    cluster = roles.Cluster(administration, roles.load_passwords(places.data))
    roles.ensure_roles(cluster)
    roles.ensure_database(cluster, name)
    return Backends(places, servers, cluster, {}, redis, name)


def environment(
    backends: Backends, *, base_url: str = "", database: str | None = None, redis_number: int = 0
) -> dict[str, str]:
    """Return the environment of a process of the service on this machine; variables that are already set win.

    Without `base_url` the address is the one that the data folder's service was last started with.
    """
    folder = backends.places.data
    made = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PRODUCTION": "false",
        "BASE_URL": base_url or _last_address(backends.places),
        "DATA_DIR": str(folder),
        "PULSE_DIR": str(backends.places.pulse),
        "WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS": "true",
        "PYTHONUNBUFFERED": "1",
        **_secrets(backends.places),
    }
    chosen = made | dict(os.environ)
    chosen |= backends.database_urls(database)
    chosen["REDIS_URL"] = backends.redis_url(redis_number)
    chosen["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{chosen.get('PATH', '')}"
    chosen["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), chosen.get("PYTHONPATH", "")]))
    return chosen


def _last_address(places: Places) -> str:
    try:
        return str(json.loads(places.prepared.read_text())["base_url"])
    except (FileNotFoundError, ValueError, KeyError):
        return _FIRST_ADDRESS


def _secrets(places: Places) -> dict[str, str]:
    """Return the secrets of this data folder, generated at the first start and never printed."""
    file = places.data / "secrets.json"
    try:
        found: dict[str, str] = json.loads(file.read_text())
    except FileNotFoundError:
        found = {
            "SECRET_KEY": secrets.token_urlsafe(48),
            "FIELD_ENCRYPTION_KEYS": f"local:{base64.b64encode(secrets.token_bytes(32)).decode()}",
        }
        write_privately(file, json.dumps(found))
    return found
