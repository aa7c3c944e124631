"""The prototype that the marks of processor time were measured with, written anew: the least a list, a get and a create could be.

It checks a credential, a limit, a membership and a scope and asks PostgreSQL once, over ten columns, and does nothing else
of what the contract promises. Run here, beside the product, it tells what this machine makes of marks from another one.
"""

import sys

SETTINGS = "bench.prototype.settings"


def command(*, port: int, workers: int) -> list[str]:
    """The command that serves it."""
    options = {"--interface": "wsgi", "--host": "127.0.0.1", "--port": str(port), "--workers": str(workers)}
    options |= {"--blocking-threads": "2", "--http": "1", "--log-level": "warning"}
    words = [word for pair in options.items() for word in pair]
    return [sys.executable, "-m", "granian", *words, "bench.prototype.serving:application"]
