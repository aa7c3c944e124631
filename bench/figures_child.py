"""Sums up the roll-ups of one supplier for `bench/analytics.py`, as the worker has done once they are a day old.

python -m bench.figures_child --tenant UUID
"""

import argparse
import json
from datetime import timedelta
from typing import Final
from uuid import UUID

from .place import setup_django

_MOST_BATCHES: Final = 10_000


def main() -> None:
    """Sum up batch by batch; print how many rows were summed up."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--tenant", type=UUID, required=True)
    tenant = reader.parse_args().tenant
    setup_django()
    from core.clock import now
    from suppliers.analytics.folding import fold

    rows, at = 0, now() + timedelta(days=2)
    for _ in range(_MOST_BATCHES):
        done = fold(tenant, at)
        rows += done
        if not done:
            break
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
