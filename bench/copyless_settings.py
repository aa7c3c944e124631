"""Settings of a server that writes no received copies, to measure what they cost. Never used by the product."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "bench.copyless.Copyless"]
