"""A worker whose acknowledgement ran into a hanging broker takes the next message all the same."""

import logging
import signal
from typing import Any

import pytest
from kombu import Connection, Consumer, Queue

from config.celery import app
from tests.api.test_ratelimits import Valkey


@pytest.fixture
def broker(tmp_path_factory: pytest.TempPathFactory) -> Any:
    server = Valkey(tmp_path_factory.mktemp("broker"))
    yield server
    server.process.send_signal(signal.SIGCONT)
    server.kill()


def test_message_whose_acknowledgement_timed_out_does_not_stop_the_worker(broker: Valkey) -> None:
    queue, taken = Queue("rings"), []
    address, options = f"redis+socket://{broker.socket}", {"socket_timeout": 0.3}
    with (
        Connection(address, transport_options=options) as connection,
        app.connection(address) as ringer,
        Consumer(connection.channel(), [queue], accept=["json"]) as consumer,
    ):
        consumer.register_callback(lambda _, message: taken.append(message))
        consumer.qos(prefetch_count=1)
        producer = ringer.Producer(serializer="json")
        producer.publish("first", routing_key="rings", declare=[queue])
        connection.drain_events(timeout=5)
        broker.process.send_signal(signal.SIGSTOP)
        taken[0].ack_log_error(logging.getLogger("kombu"), connection.connection_errors)
        broker.process.send_signal(signal.SIGCONT)
        producer.publish("second", routing_key="rings", declare=[queue])
        connection.drain_events(timeout=5)

    assert [message.payload for message in taken] == ["first", "second"]
