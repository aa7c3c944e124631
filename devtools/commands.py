"""Which service a management command belongs to, and which commands need none. Standard library only."""

import base64
import os
from collections.abc import Sequence

from .places import data_folder
from .trouble import Trouble

# What prepares a database, or works on the code alone.
_NEED_NO_SERVICE = frozenset({"prepare", "migrate", "makemigrations", "openapi", "check", "collectstatic"})
_HELP = frozenset({"help", "--help", "-h", "--version"})


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Tell whether the arguments of `manage.py` only ask what there is; that needs no server."""
    words = list(arguments)
    asked = words[: words.index("--")] if "--" in words else words
    return not asked or asked[0] == "help" or not _HELP.isdisjoint({word for word in asked if word.startswith("-")})


def help_environment() -> dict[str, str]:
    """Return an environment in which the settings can be read and nothing can be reached."""
    return dict(os.environ) | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PRODUCTION": "false",
        "SECRET_KEY": "help",
        "FIELD_ENCRYPTION_KEYS": f"help:{base64.b64encode(bytes(32)).decode()}",
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }


def require_prepared(data: str | None, arguments: Sequence[str]) -> None:
    """Check that the data folder is a service's, before anything is made in it.

    :raises Trouble: `./dev up` has never prepared it, and the command needs what stands in a database.
    """
    if os.environ.get("DATABASE_URL") or (arguments and arguments[0] in _NEED_NO_SERVICE):
        return
    folder = data_folder(data)
    if not (folder / "prepared.json").exists():
        raise Trouble(
            f"{folder} holds no service: run ./dev up, or set DATA_DIR to the folder of one (--data does too)."
        )
