"""The only way out: whatever address a user names, for whichever app, is checked and dialled here.

The check of the text and of the name's addresses is a courtesy to whoever types it; what holds is the check of every
resolved address directly before the connection. Source: webhooks contract, "The guard against server-side request
forgery"; docs/decisions/0022-one-way-out.md.

    way = egress.rules()
    egress.check_url(url, way, addresses=egress.look_up(url, way))      # look_up asks the network: in no transaction
    async with egress.way_out() as out:
        answer = await out.post(url, body=body, headers=headers)
    document = egress.fetch(url, accept="application/json", longest_bytes=65_536)  # asks the network, too
"""

from .client import (
    CONNECT_SECONDS,
    EXCERPT_BYTES,
    TOTAL_SECONDS,
    Answer,
    Document,
    Egress,
    way_out,
)
from .destinations import LONGEST_URL, BlockedDestination, Rules, check_url, is_public, rules
from .documents import FETCH_SECONDS, fetch
from .lookups import LOOKUP_SECONDS, look_up, resolver

__all__ = [
    "CONNECT_SECONDS",
    "EXCERPT_BYTES",
    "FETCH_SECONDS",
    "LONGEST_URL",
    "LOOKUP_SECONDS",
    "TOTAL_SECONDS",
    "Answer",
    "BlockedDestination",
    "Document",
    "Egress",
    "Rules",
    "check_url",
    "fetch",
    "is_public",
    "look_up",
    "resolver",
    "rules",
    "way_out",
]
