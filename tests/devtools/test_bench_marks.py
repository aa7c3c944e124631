"""The marks of `./dev bench prescriptions`: which ratio is held, and when one counts as met."""

from bench.prescriptions_report import Held, Mark, Taken, growth, works


def taken(cost: float, *, p50: float = 1.0) -> Taken:
    """A measurement of some CPU, half of it the database's."""
    return Taken(per_second=100, p50=p50, p95=2, cpu=cost / 2, postgres=cost / 2)


def test_a_ratio_is_of_the_same_round():
    mark = Mark("get", "cost", "get: bare view", 2.0)
    found = {"get": [taken(100), taken(900)], "get: bare view": [taken(50), taken(300)]}
    assert mark.value(found) == [2.0, 3.0]
    assert mark.words() == "cost ≤ 2x get: bare view"


def test_a_number_at_its_bound_is_met_and_one_beyond_it_is_missed():
    assert "| met |" in Held("checkpoint", 30, 30, " s").line()
    assert "missed" in Held("checkpoint", 30.1, 30, " s").line()
    assert "| met |" in Held("entries", 20_000, 20_000, "/s", at_least=True).line()
    assert "missed" in Held("entries", 19_999, 20_000, "/s", at_least=True).line()


def test_too_many_trips_are_told():
    (*_, line) = works({"sign": [taken(10)]}, {"sign": 10})
    assert line.endswith("| 10 | 9: missed |")
    (*_, line) = works({"sign": [taken(10)]}, {"sign": 9})
    assert line.endswith("| 9 | 9 |")


def test_growth_is_of_cpu_and_where_none_was_counted_of_time():
    small = {"list": [taken(100)], "sign: SQL floor": [taken(0, p50=1)]}
    large = {"list": [taken(130)], "sign: SQL floor": [taken(0, p50=1.4)]}
    (*_, first, second) = growth({10: small, 1_000: large})
    assert "1.30x" in first
    assert first.endswith("flat |")
    assert "1.40x" in second
    assert second.endswith("grows |")
