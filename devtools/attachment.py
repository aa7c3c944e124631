"""Support for `manage.py` without `./dev`: connects the process to the servers and secrets of the data folder."""

import os
import sys
from collections.abc import Sequence

from .commands import asks_for_help, help_environment, require_prepared
from .environment import environment, open_backends
from .places import open_places
from .trouble import Trouble


def join_servers(arguments: Sequence[str]) -> None:
    """Start or join the embedded servers and set the environment; the kernel releases them when this process ends."""
    if asks_for_help(arguments):
        os.environ.update(help_environment())
        return
    try:
        require_prepared(None, arguments)
        backends = open_backends(open_places())
    except Trouble as error:
        sys.exit(f"error: {error}")
    os.environ.update(environment(backends))
