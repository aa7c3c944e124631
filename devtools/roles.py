"""The database roles of the service, its database with the grants, and the URLs of both. All functions are idempotent.

`hp_owner` owns the schema and migrates. Web and workers log in as `hp_runtime`, which inherits nothing and assumes
`hp_app`, `hp_dispatcher` or `hp_market` in a transaction. `hp_platform` serves certain admin pages and commands.
"""

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from .keeper import write_privately
from .trouble import Trouble

OWNER, RUNTIME, PLATFORM = "hp_owner", "hp_runtime", "hp_platform"
TAKEN_ON = ("hp_app", "hp_dispatcher", "hp_market")
_BASE = "NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION CONNECTION LIMIT -1"
_ATTRIBUTES = {
    OWNER: f"LOGIN INHERIT BYPASSRLS {_BASE}",
    RUNTIME: f"LOGIN NOINHERIT NOBYPASSRLS {_BASE}",
    PLATFORM: f"LOGIN NOINHERIT BYPASSRLS {_BASE}",
    **dict.fromkeys(TAKEN_ON, f"NOLOGIN NOINHERIT NOBYPASSRLS {_BASE}"),
}
_LOGINS = {"DATABASE_URL": RUNTIME, "DATABASE_OWNER_URL": OWNER, "DATABASE_PLATFORM_URL": PLATFORM}
_LOCK = 7_206_001
_LEAST_VERSION = 18  # whose uuidv7() the service calls
_MAINTENANCE = "postgres"
_FOREIGN = """
SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND pg_get_userbyid(c.relowner) <> %s
"""


@dataclass(frozen=True)
class Cluster:
    """A PostgreSQL server reached as administrator, and the passwords of the login roles (none if it is embedded)."""

    administrator_url: str
    passwords: dict[str, str]

    def connect(self, database: str | None = None) -> psycopg.Connection[tuple[object, ...]]:
        """Connect as the administrator, outside any transaction.

        :raises Trouble: the server refuses the connection or does not answer.
        """
        url = with_parts(self.administrator_url, database=database) if database else self.administrator_url
        try:
            return psycopg.connect(url, autocommit=True, connect_timeout=10)
        except psycopg.Error as error:
            raise Trouble(
                f"PostgreSQL cannot be reached with DATABASE_URL: {str(error).strip().splitlines()[0]}"
            ) from error

    def urls(self, database: str) -> dict[str, str]:
        """Return the three URLs of the service for a database."""
        return {
            name: with_parts(
                self.administrator_url, database=database, role=role, password=self.passwords.get(role, "")
            )
            for name, role in _LOGINS.items()
        }


def administration_url(url: str) -> str:
    """Return the URL of a database that is there already: `postgres`, else the one that the URL names."""
    maintenance = with_parts(url, database=_MAINTENANCE)
    try:
        psycopg.connect(maintenance, connect_timeout=10).close()
    except psycopg.Error:
        return url
    return maintenance


def check_version(url: str) -> None:
    """Require a server that the service runs on.

    :raises Trouble: it is too old, refuses the connection or does not answer.
    """
    with Cluster(url, {}).connect() as connection:
        version = connection.info.server_version // 10_000
    if version < _LEAST_VERSION:
        raise Trouble(f"The server of DATABASE_URL is PostgreSQL {version}; {_LEAST_VERSION} or newer is needed.")


def is_administrator(url: str) -> bool:
    """Tell whether the URL's role may create the roles of the service.

    :raises Trouble: the server refuses the connection or does not answer.
    """
    with Cluster(url, {}).connect() as connection:
        found = connection.execute(
            "SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
    return bool(found and found[0])


def load_passwords(folder: Path) -> dict[str, str]:
    """Return the passwords of the logins, generated once and kept in the private data folder."""
    file = folder / "roles.json"
    try:
        found: dict[str, str] = json.loads(file.read_text())
    except FileNotFoundError:
        found = {}
    missing = [role for role in _LOGINS.values() if role not in found]
    if missing:
        found |= {role: secrets.token_urlsafe(32) for role in missing}
        write_privately(file, json.dumps(found))
    return found


def ensure_roles(cluster: Cluster) -> None:
    """Create the roles, or correct the attributes of existing ones.

    :raises Trouble: the administrator may not create or alter roles.
    """
    with cluster.connect() as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        try:
            _ensure_roles(connection, cluster.passwords)
        except psycopg.errors.InsufficientPrivilege as error:
            raise Trouble(
                f"The role of DATABASE_URL may not create the roles of the service: {error.diag.message_primary}."
            ) from error


def _ensure_roles(connection: psycopg.Connection[tuple[object, ...]], passwords: dict[str, str]) -> None:
    have = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles").fetchall()}
    for role, attributes in _ATTRIBUTES.items():
        verb = "ALTER" if role in have else "CREATE"
        connection.execute(sql.SQL("{} ROLE {} {}").format(sql.SQL(verb), sql.Identifier(role), sql.SQL(attributes)))
        if role in passwords:
            connection.execute(
                sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), sql.Literal(passwords[role]))
            )
    for role in TAKEN_ON:
        grant = sql.SQL("GRANT {} TO {} WITH INHERIT FALSE, SET TRUE")
        connection.execute(grant.format(sql.Identifier(role), sql.Identifier(RUNTIME)))
    administrator = connection.execute(
        "SELECT current_user, rolsuper FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    if administrator and not administrator[1]:  # it must be able to create databases owned by the owner role
        grant = sql.SQL("GRANT {} TO {} WITH SET TRUE")
        connection.execute(grant.format(sql.Identifier(OWNER), sql.Identifier(str(administrator[0]))))


def ensure_database(cluster: Cluster, database: str, *, template: str | None = None) -> bool:
    """Create a database owned by the owner role, open to the login roles only; return whether it was new.

    An existing database becomes the owner's, unless it holds tables of others.

    :raises Trouble: it holds some, or the administrator may not create or hand over the database.
    """
    try:
        return _ensure_database(cluster, database, template)
    except psycopg.errors.InsufficientPrivilege as error:
        raise Trouble(
            f"The role of DATABASE_URL may not prepare the database {database}: {error.diag.message_primary}."
            " Give it CREATEDB, or the ownership of the database."
        ) from error


def _ensure_database(cluster: Cluster, database: str, template: str | None) -> bool:
    with cluster.connect() as connection:
        # several processes may share the servers and start at once
        connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        found = connection.execute(
            "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = %s", [database]
        ).fetchone()
        name, owner = sql.Identifier(database), sql.Identifier(OWNER)
        if not found:
            source = sql.SQL(" TEMPLATE {}").format(sql.Identifier(template)) if template else sql.SQL("")
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}{}").format(name, owner, source))
        elif found[0] != OWNER:
            _hand_over(cluster, connection, database)
        connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name))
        logins = sql.SQL(", ").join(map(sql.Identifier, (RUNTIME, PLATFORM)))
        connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(name, logins))
    return not found


def _hand_over(cluster: Cluster, connection: psycopg.Connection[tuple[object, ...]], database: str) -> None:
    """Make an empty database that somebody else created the owner's, with its schema `public`."""
    with cluster.connect(database) as inside:
        row = inside.execute(_FOREIGN, [OWNER]).fetchone()
        if row and row[0]:
            raise Trouble(
                f"The database {database} holds {row[0]} tables of others; name another one in DATABASE_URL."
                " It is created if it does not exist."
            )
        connection.execute(
            sql.SQL("ALTER DATABASE {} OWNER TO {}").format(sql.Identifier(database), sql.Identifier(OWNER))
        )
        inside.execute(sql.SQL("GRANT ALL ON SCHEMA public TO {}").format(sql.Identifier(OWNER)))


def drop_database(cluster: Cluster, database: str) -> None:
    """Drop a database and end its sessions."""
    with cluster.connect() as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))


def with_parts(url: str, *, database: str | None = None, role: str | None = None, password: str = "") -> str:
    """Return the URL with another database, role or password."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    credentials = parts.netloc.rpartition("@")[0]
    if role is not None:
        credentials = quote(role) + (f":{quote(password, safe='')}" if password else "")
    query = [(key, value) for key, value in parse_qsl(parts.query) if role is None or key not in ("user", "password")]
    path = f"/{database}" if database is not None else parts.path
    netloc = f"{credentials}@{place}" if credentials else place
    return urlunsplit((parts.scheme, netloc, path, urlencode(query, quote_via=quote), ""))


def database_of(url: str) -> str:
    """Return the name of the URL's database."""
    return unquote(urlsplit(url).path.lstrip("/")) or "hp"
