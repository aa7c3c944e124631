"""How far the event log may be read: up to where nobody who began to write an event may still be busy.

Events get their time when they are written and are seen when their transaction commits, so a reader who goes by time
could step over one that commits late. Every writer therefore holds a shared lock that names the second in which it began,
until its transaction ends; the log is shown up to the oldest of them, and never its last two seconds.
"""

from typing import Final

_WRITERS: Final = 20_031  # the first of the lock's two numbers; the other is the second

ENTER: Final = f"SELECT pg_advisory_xact_lock_shared({_WRITERS}, floor(extract(epoch FROM clock_timestamp()))::integer)"

SETTLED: Final = f"""t."created_at" < (SELECT least(now() - interval '2 seconds', min(to_timestamp(held.objid::bigint)))
  FROM pg_locks held WHERE held.locktype = 'advisory' AND held.classid = {_WRITERS} AND held.objsubid = 2
   AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database()))"""
