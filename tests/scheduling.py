"""Which worker of pytest-xdist runs what: a file's tests on one of them, and all that share one service on one, too."""

from typing import Final

from xdist.scheduler import LoadFileScheduling

SERVICE: Final = "tests/faults/"  # starting the service once costs as much as most of the tests that ask it


class ByService(LoadFileScheduling):
    """`--dist loadfile`, with the files that share the service taken for one."""

    def _split_scope(self, nodeid: str) -> str:
        return SERVICE if nodeid.startswith(SERVICE) else str(super()._split_scope(nodeid))
