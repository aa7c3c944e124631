"""Acknowledgement of broker messages: one that fails must not stop the worker.

Kombu forgets a message only after Redis has answered. After a time-out the message still counts as in progress, and
with a prefetch of one the worker takes no further message until it is restarted. Source: celery issue 2415.
"""

from typing import Any

from kombu.transport import redis, virtual


class TolerantQoS(redis.QoS):
    """Counts a message as done even if Redis fails; Redis may then deliver the message again, which does no harm."""

    def ack(self, delivery_tag: Any) -> None:
        """Acknowledge the message here and in Redis; an error of Redis is raised, but the message counts as done."""
        try:
            super().ack(delivery_tag)
        except BaseException:
            virtual.QoS.ack(self, delivery_tag)
            raise


def install() -> None:
    """Make every connection to the broker use `TolerantQoS`."""
    redis.Channel.QoS = TolerantQoS
