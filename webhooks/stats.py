"""What an hour of an endpoint is counted in. The dispatcher writes these rows, everybody else only reads them.

`attempts` are POSTs, `delivered` those answered with 2xx, `failed` the deliveries that were given up; `duration_ms` is the
sum of all attempts. `duration_buckets[i]` counts attempts shorter than `BOUNDS_MS[i]` and not shorter than the bound
before; the last bucket counts those of the longest bound or more.
"""

from typing import Final

BOUNDS_MS: Final = (5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 15_000)
BUCKETS: Final = len(BOUNDS_MS) + 1


def percentile_ms(buckets: list[int], share: float) -> int | None:
    """Tell below which bound that share of attempts stayed; None without attempts. The open bucket counts as its bound."""
    total, seen = sum(buckets), 0
    for bound, count in zip((*BOUNDS_MS, BOUNDS_MS[-1]), buckets, strict=False):
        seen += count
        if total and seen >= total * share:
            return bound
    return None
