"""Granian with the application imported once, before its workers are forked: `python -m config.serving OPTIONS`.

A killed server needs one import to restart instead of one for each worker, and a killed worker needs none. Memory that
they do not change stays shared. Where processes are spawned, not forked, each worker imports the application itself.
"""

import gc
import sys

from django.urls import get_resolver
from granian.cli import entrypoint

from . import front


def main() -> None:
    """Import everything that answers requests, build the API document once for all workers, then run Granian's command line."""
    _ = front.app, get_resolver().url_patterns
    from api import docs  # its imports need what `front` has set up

    docs.build()
    gc.collect()
    gc.freeze()  # so that garbage collection in the workers does not touch the shared memory
    # Requests leave few cycles. A large body makes many objects that live until its answer; examining them again and
    # again would take a third of the request's time.
    gc.set_threshold(50_000, 20, 20)
    sys.setswitchinterval(0.001)  # a thread that computes for one tenant yields sooner to those that answer others
    entrypoint()


if __name__ == "__main__":
    main()
