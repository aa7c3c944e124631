"""The commands of the service's processes: web, worker, beat. `deploy/` uses the same options."""

import sys
from pathlib import Path

BACKGROUND = 10  # niceness of the workers: requests have priority


def web_command(*, port: int, workers: int) -> list[str]:
    """Return the command of the web server."""
    options = {
        "--interface": "rsgi",
        "--host": "127.0.0.1",
        "--port": str(port),
        "--workers": str(workers),
        "--http": "1",
        "--backlog": "2048",
        "--backpressure": "1024",
        "--http1-buffer-size": "131072",
        "--http1-header-read-timeout": "10000",
        "--respawn-interval": "0.5",
        "--workers-kill-timeout": "8",
        "--log-level": "warning",
    }
    flags = ["--no-ws", "--respawn-failed-workers"]
    return [
        sys.executable,
        "-m",
        "config.serving",
        *(part for pair in options.items() for part in pair),
        *flags,
        "config.front:app",
    ]


def worker_command(*, queues: str = "celery,bulk,webhooks", processes: int = 2) -> list[str]:
    """Return the command of a worker of these queues; the webhook dispatcher has its own, since it runs for seconds."""
    options = [
        "--queues",
        queues,
        "--concurrency",
        str(processes),
        "--prefetch-multiplier",
        "1",
        "--loglevel",
        "warning",
    ]
    head = [sys.executable, "-m", "celery", "-A", "config.celery", "worker"]
    return [*head, *options, "--hostname", f"{queues.replace(',', '-')}@%h", "--without-gossip", "--without-mingle"]


def beat_command(folder: Path) -> list[str]:
    """Return the command of Celery beat, which sends the periodic tasks."""
    schedule = str(folder / "beat-schedule")
    return [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "config.celery",
        "beat",
        "--schedule",
        schedule,
        "--pidfile=",
        "--loglevel",
        "warning",
    ]
