"""Lets a bare `manage.py` work in a checkout: servers, roles and secrets of the data folder, for this process."""

import os
import sys

from .environment import environment, open_backends
from .places import open_places
from .trouble import Trouble


def join_servers() -> None:
    """Start or join the embedded servers and set the environment; the kernel ends the membership with this process."""
    try:
        backends = open_backends(open_places())
    except Trouble as error:
        sys.exit(str(error))
    os.environ.update(environment(backends))
