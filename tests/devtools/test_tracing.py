"""What runs in a test marked `untraced` is not measured, and what runs before and after it is."""

from pathlib import Path

import pytest
from coverage import Coverage

from tests.tracing import untraced

MODULE = "def before():\n    return 1\n\ndef within():\n    return 2\n\ndef after():\n    return 3\n"


def measured(file: Path) -> set[int]:
    """The lines of a module that were measured when its three functions ran, the second of them untraced."""
    names: dict = {}
    measuring = Coverage(data_file=None, include=[str(file)], config_file=False)
    measuring.start()
    try:
        exec(compile(file.read_text(), str(file), "exec"), names)
        names["before"]()
        with untraced():
            names["within"]()
        names["after"]()
    finally:
        measuring.stop()
    return set(measuring.get_data().lines(str(file)) or ())


def test_only_what_runs_untraced_is_left_out(tmp_path):
    file = tmp_path / "module.py"
    file.write_text(MODULE)
    assert measured(file) == {1, 2, 4, 7, 8}


@pytest.mark.untraced
def test_marked_test_is_not_measured():
    assert Coverage.current() is None


def test_other_tests_are_measured_where_the_run_is(pytestconfig):
    wanted = pytestconfig.pluginmanager.hasplugin("_cov")
    assert (Coverage.current() is not None) == wanted
