"""Acknowledging messages of the broker: one that fails must not stop the worker.

Kombu forgets a message only after Redis answered; a time-out there leaves it counted among those in work, and at a
prefetch of one the worker takes nothing more until it is started again. Source: celery issue 2415.
"""

from typing import Any

from kombu.transport import redis, virtual


class Forgiving(redis.QoS):
    """Counts a message as done whatever Redis says; what stays in its list of open ones is a doorbell rung twice."""

    def ack(self, delivery_tag: Any) -> None:
        """Take the message off both lists, and raise what Redis raised."""
        try:
            super().ack(delivery_tag)
        except BaseException:
            virtual.QoS.ack(self, delivery_tag)
            raise


def use() -> None:
    """Let every connection to the broker acknowledge so."""
    redis.Channel.QoS = Forgiving
