"""A dispatcher that is stopped halfway through a trip does not hold the others up for ever."""

import asyncio
from uuid import uuid4

import pytest

from webhooks.queues import Queues


def test_session_of_a_dispatcher_ends_transactions_that_do_not_go_on():
    async def asked() -> str:
        queues = Queues(lease=uuid4())
        connection = await queues._open()
        try:
            if connection.info.server_version < 170_000:
                pytest.skip("older servers do not know transaction_timeout")
            row = await (await connection.execute("SHOW transaction_timeout")).fetchone()
            return row[0]
        finally:
            await queues.close()

    assert asyncio.run(asked()) == "20s"
