"""Support for `manage.py` without `./dev`: connects the process to the servers and secrets of the data folder."""

import os
import sys

from .environment import environment, open_backends
from .places import open_places
from .trouble import Trouble


def join_servers() -> None:
    """Start or join the embedded servers and set the environment; the kernel releases them when this process ends."""
    try:
        backends = open_backends(open_places())
    except Trouble as error:
        sys.exit(str(error))
    os.environ.update(environment(backends))
