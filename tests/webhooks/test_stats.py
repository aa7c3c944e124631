"""The buckets of an hour, read as a percentile."""

import pytest

from webhooks.stats import BOUNDS_MS, BUCKETS, percentile_ms


@pytest.mark.parametrize(
    ("buckets", "share", "expected"),
    [
        ([0] * BUCKETS, 0.5, None),
        ([1] + [0] * (BUCKETS - 1), 0.99, BOUNDS_MS[0]),
        ([99, 1] + [0] * (BUCKETS - 2), 0.99, BOUNDS_MS[0]),
        ([98, 2] + [0] * (BUCKETS - 2), 0.99, BOUNDS_MS[1]),
        ([0] * (BUCKETS - 1) + [5], 0.5, BOUNDS_MS[-1]),
    ],
)
def test_percentile_is_the_bound_of_its_bucket(buckets, share, expected):
    assert percentile_ms(buckets, share) == expected
