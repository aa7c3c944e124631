"""The application as it is imported once, before the web workers are forked from it."""

import subprocess
import sys

from devtools.places import ROOT

_LOOK = """
import gc, threading
import psutil
from config import serving

serving.entrypoint = lambda: print(
    threading.active_count(), len(psutil.Process().net_connections(kind="all")), gc.get_freeze_count() > 100_000
)
serving.main()
"""


def test_import_leaves_nothing_that_a_fork_would_share(service_environment):
    seen = subprocess.run(
        [sys.executable, "-c", _LOOK], env=service_environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert seen.stdout.split() == ["1", "0", "True"], "one thread, no connection, and the collector frozen"
