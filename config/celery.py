"""The Celery application: the doorbell of the workers. All state of jobs lives in PostgreSQL."""

import ctypes
import os
import signal
import sys
from typing import Any

from celery import Celery
from celery.signals import worker_process_init
from django.conf import settings

from .schedule import SCHEDULE

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("health_procurement")
app.conf.update(settings.CELERY)
app.conf.beat_schedule = SCHEDULE
app.autodiscover_tasks()

_PR_SET_PDEATHSIG = 1


@worker_process_init.connect
def _end_with_the_worker(**_: Any) -> None:
    """End a pool process whose worker was killed: nobody would feed or stop it any more."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
