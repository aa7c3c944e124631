"""Granian with the application imported once, before the workers are forked from it: `python -m config.serving OPTIONS`.

A killed server is back after one import instead of one per worker, a killed worker after none; what they never change
stays shared memory. Where processes are spawned rather than forked each worker imports for itself, as Granian does.
"""

import gc

from django.urls import get_resolver
from granian.cli import entrypoint

from . import front


def main() -> None:
    """Import everything that answers requests, then hand over to Granian's command line."""
    _ = front.app, get_resolver().url_patterns
    gc.collect()
    gc.freeze()  # the workers' collector leaves what they share untouched
    # Requests leave few cycles. A large body makes many objects that live until its answer: looking through them again and
    # again would take a third of its time.
    gc.set_threshold(50_000, 20, 20)
    entrypoint()


if __name__ == "__main__":
    main()
