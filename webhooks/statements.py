"""The dispatcher's SQL: fan out, claim, read targets, finish, freeze. `queues.py` runs it under the role `hp_dispatcher`.

Fan-out and claim work in one lane (`core.lanes`), and so do the statements about what they found. Locks are taken in one
order everywhere, also by the API's actions: endpoint, due rows by id, deliveries, hours, health, secrets, each by key. A
claim never waits for a row.
"""

from typing import Final

from core.lanes import AFTER, HERE, tenants_of

from . import schedule, states, stats, wanted
from .models import Secret

_MOST_DIVISOR: Final = 20

# One statement moves a batch from the queue of new events to one delivery and one due row for each endpoint that wants it.
# Only one dispatcher of a lane does so at a time: events of one resource become visible in their order, and are queued
# in it. An event goes to whoever wanted it when it happened (`Subscription`), however late it is matched. Tenants share a
# batch, and who has many endpoints has fewer events of it, so that nobody's backlog stands in front of another's events.
FAN_OUT: Final = f"""
WITH RECURSIVE turn AS MATERIALIZED (
  SELECT pg_try_advisory_xact_lock(hashtextextended('webhooks.fan_out', %(lane)s)) AS mine),
{tenants_of("webhooks_event_new", condition="(SELECT mine FROM turn)")},
share AS MATERIALIZED (
  SELECT waiting.tenant_id,
         GREATEST(%(limit)s / count(*) OVER () / LEAST(GREATEST(listening.endpoints, 1), {_MOST_DIVISOR}), 1) AS events
  FROM (SELECT tenant_id FROM hop WHERE true {HERE}) waiting CROSS JOIN LATERAL (
    SELECT count(*) AS endpoints FROM webhooks_endpoint
    WHERE tenant_id = waiting.tenant_id AND deleted_at IS NULL OFFSET 0) listening),
front AS MATERIALIZED (
  SELECT share.tenant_id, share.events, oldest.place FROM share CROSS JOIN LATERAL (
    SELECT ctid AS place FROM webhooks_event_new
    WHERE (tenant_id, created_at) > (share.tenant_id, timestamptz '-infinity')
      AND (tenant_id, created_at) <= (share.tenant_id, timestamptz 'infinity')
    ORDER BY tenant_id, created_at, id LIMIT share.events FOR UPDATE SKIP LOCKED) oldest),
fresh AS (
  DELETE FROM webhooks_event_new WHERE ctid = ANY(ARRAY(SELECT place FROM front))
  RETURNING id, created_at, tenant_id, type, resource_id),
matched AS (
  SELECT {wanted.DELIVERY_ID.format(event="fresh.id", endpoint="endpoint.id")} AS delivery_id, fresh.*,
         endpoint.id AS endpoint_id, endpoint.ordered
  FROM fresh CROSS JOIN LATERAL (
    SELECT id, ordered FROM webhooks_endpoint
    WHERE tenant_id = fresh.tenant_id AND deleted_at IS NULL AND id <> fresh.resource_id OFFSET 0) endpoint
  CROSS JOIN LATERAL (
    SELECT events FROM webhooks_subscription
    WHERE tenant_id = fresh.tenant_id AND endpoint_id = endpoint.id AND begins_at <= fresh.created_at
      AND (ends_at IS NULL OR ends_at > fresh.created_at) OFFSET 0) held
  WHERE {wanted.MATCHES.format(patterns="held.events", type="fresh.type")}),
missing AS MATERIALIZED (
  SELECT matched.* FROM matched LEFT JOIN LATERAL (
    SELECT true AS is_made FROM webhooks_delivery delivery WHERE delivery.tenant_id = matched.tenant_id
      AND delivery.created_at = matched.created_at AND delivery.id = matched.delivery_id OFFSET 0) known ON true
  WHERE is_made IS NULL),
made AS (
  INSERT INTO webhooks_delivery (id, created_at, tenant_id, event_id, event_type, endpoint_id, state, next_attempt_at)
  SELECT delivery_id, created_at, tenant_id, id, type, endpoint_id, '{states.PENDING}', now() FROM missing
  ON CONFLICT DO NOTHING RETURNING 1),
queued AS (
  INSERT INTO webhooks_delivery_due
    (delivery_id, created_at, tenant_id, event_id, endpoint_id, due_at, resource_id, sequence)
  SELECT missing.delivery_id, missing.created_at, missing.tenant_id, missing.id, missing.endpoint_id, now(),
         CASE WHEN missing.ordered THEN missing.resource_id END, COALESCE(event.sequence, 0)
  FROM missing LEFT JOIN webhooks_event event
    ON missing.ordered AND event.tenant_id = missing.tenant_id AND event.created_at = missing.created_at
    AND event.id = missing.id
  ON CONFLICT DO NOTHING RETURNING 1)
SELECT (SELECT count(*) FROM fresh) AS events, {AFTER} AS after,
       EXISTS (SELECT 1 FROM front GROUP BY tenant_id HAVING count(*) = min(events)) AS is_full
"""

# A dispatcher holds this lock of its session for as long as it lives, so that the places of a killed one are free at once;
# its rows themselves wait for the end of their lease, because their POSTs may have been received.
_DISPATCHERS: Final = 20_032
ALIVE: Final = f"SELECT pg_advisory_lock_shared({_DISPATCHERS}, hashtext(%(lease)s::uuid::text))"

CLAIM_TURN: Final = "SELECT pg_advisory_xact_lock(hashtextextended('webhooks.claim', %(lane)s))"

_ROOM: Final = f"""
  CASE WHEN NOT endpoint.active OR tenant.status <> 'active' OR health.gone_at IS NOT NULL
            OR health.paused_until > pace.at OR health.circuit_until > pace.at THEN 0
       WHEN COALESCE(health.circuit_state, '{states.CLOSED}') <> '{states.CLOSED}' THEN 1 - seen.leased
       ELSE LEAST(
         GREATEST(endpoint.max_inflight >> LEAST(COALESCE(health.consecutive_failures, 0), 6), 1)
           - seen.leased,
         floor(extract(epoch FROM pace.at - sends_from) * endpoint.max_rps + 0.000001)) END
"""

# The oldest due rows tell which endpoints have work. Where they are many, the index by endpoint is also walked from
# endpoint to endpoint, a stretch in each claim, so that no queue, however long, stands in front of another's. The lane
# narrows what was found, not the walk: rows of other lanes, however many, are not read one by one.
_WORK_TO_DO: Final = f"""
near_first AS MATERIALIZED (
  SELECT tenant_id, endpoint_id, due_at FROM webhooks_delivery_due
  WHERE NOT retrying AND due_at <= now() ORDER BY due_at LIMIT %(window)s),
near_again AS MATERIALIZED (
  SELECT tenant_id, endpoint_id, due_at FROM webhooks_delivery_due
  WHERE retrying AND due_at <= now() ORDER BY due_at LIMIT %(window)s),
crowd AS MATERIALIZED (
  SELECT (SELECT count(*) FROM near_first) >= %(window)s OR (SELECT count(*) FROM near_again) >= %(window)s AS there),
hop (tenant_id, endpoint_id, step) AS (
  (SELECT tenant_id, endpoint_id, 1 FROM webhooks_delivery_due
   WHERE (SELECT there FROM crowd) AND endpoint_id > %(after)s ORDER BY endpoint_id LIMIT 1)
  UNION ALL
  SELECT following.tenant_id, following.endpoint_id, hop.step + 1 FROM hop CROSS JOIN LATERAL (
    SELECT tenant_id, endpoint_id FROM webhooks_delivery_due due
    WHERE due.endpoint_id > hop.endpoint_id ORDER BY endpoint_id LIMIT 1) following
  WHERE hop.step < %(hops)s),
alive AS MATERIALIZED (
  SELECT objid::bigint AS dispatcher FROM pg_locks WHERE locktype = 'advisory' AND classid = {_DISPATCHERS} AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())),
leases AS MATERIALIZED (
  SELECT endpoint_id, resource_id, hashtext(lease::text)::bigint & 4294967295 IN (SELECT dispatcher FROM alive) AS held
  FROM webhooks_delivery_due WHERE lease IS NOT NULL AND due_at > now()),
flight AS MATERIALIZED (SELECT endpoint_id, count(*) FILTER (WHERE held)::int AS leased FROM leases GROUP BY endpoint_id),
seen AS MATERIALIZED (
  SELECT work.tenant_id, work.endpoint_id, work.oldest, COALESCE(flight.leased, 0) AS leased
  FROM (SELECT tenant_id, endpoint_id, min(due_at) AS oldest
        FROM (TABLE near_first UNION ALL TABLE near_again UNION ALL SELECT tenant_id, endpoint_id, now() FROM hop) found
        WHERE true {HERE} GROUP BY tenant_id, endpoint_id) work
  LEFT JOIN flight USING (endpoint_id)),
"""

# Rows of one resource of an ordered endpoint wait for the first of them. They step back from the front meanwhile; whoever
# ends the first pulls the next (FINISH), and a pull that was missed is made good when the row comes up again.
_IN_ORDER: Final = """
behind AS (
  SELECT found.tenant_id, found.delivery_id,
         LEAST(GREATEST(CASE WHEN first.is_free THEN first.due_at END, now() + interval '1 second'), now() + interval '10 minutes') AS again_at
  FROM found CROSS JOIN LATERAL (
    SELECT due.due_at, due.lease IS NULL AS is_free FROM webhooks_delivery_due due
    WHERE due.endpoint_id = found.endpoint_id AND due.resource_id = found.resource_id AND due.sequence < found.sequence
    ORDER BY due.sequence LIMIT 1) first
  WHERE found.ordered AND found.resource_id IS NOT NULL
  UNION
  SELECT found.tenant_id, found.delivery_id, now() + interval '1 second' FROM found JOIN leases USING (endpoint_id, resource_id)
  WHERE found.ordered),
back AS MATERIALIZED (
  SELECT waiting.place, behind.again_at FROM behind CROSS JOIN LATERAL (
    SELECT ctid AS place FROM webhooks_delivery_due
    WHERE tenant_id = behind.tenant_id AND delivery_id = behind.delivery_id AND due_at <= now()
    FOR UPDATE SKIP LOCKED) waiting),
stepped_back AS (
  UPDATE webhooks_delivery_due due SET due_at = (SELECT min(again_at) FROM back WHERE place = due.ctid)
  WHERE due.ctid = ANY(ARRAY(SELECT place FROM back))),
"""

# The look-ups by key are spelled as LATERAL … OFFSET 0 and the queue of an endpoint as a range of its index, so that no
# plan, made when tables were small, reads a whole one or walks through the others' rows.
# Claims are made one after the other (CLAIM_TURN), so that caps and rates hold over all dispatchers. Of an endpoint's
# places and of all slots, 70 % go to first tries and 30 % to retries; what one side leaves, the other takes.
CLAIM: Final = f"""
WITH RECURSIVE {_WORK_TO_DO}
room AS (
  SELECT endpoint.id, endpoint.tenant_id, endpoint.active, endpoint.ordered, endpoint.max_rps, endpoint.api_version,
         endpoint.payload_mode, seen.oldest, pace.sends_from,
         COALESCE(health.circuit_state, '{states.CLOSED}') <> '{states.CLOSED}' AS probing, {_ROOM} AS places
  FROM seen CROSS JOIN LATERAL (
    SELECT * FROM webhooks_endpoint WHERE tenant_id = seen.tenant_id AND id = seen.endpoint_id OFFSET 0) endpoint
  CROSS JOIN LATERAL (SELECT status FROM organizations_tenant WHERE id = endpoint.tenant_id OFFSET 0) tenant
  LEFT JOIN LATERAL (
    SELECT * FROM webhooks_endpoint_health
    WHERE tenant_id = endpoint.tenant_id AND endpoint_id = endpoint.id OFFSET 0) health ON true
  CROSS JOIN LATERAL (SELECT GREATEST(health.next_send_at,
    now() - GREATEST(1.0 / endpoint.max_rps, 0.1) * interval '1 second') AS sends_from, now() AS at) pace),
open AS (
  SELECT *, LEAST(places, GREATEST(2 * %(limit)s / count(*) OVER (), 1), %(limit)s)::int AS reach
  FROM room WHERE places > 0 ORDER BY oldest LIMIT %(limit)s),
found AS (
  SELECT open.tenant_id, open.id AS endpoint_id, open.places, open.ordered, due.* FROM open CROSS JOIN LATERAL (
    (SELECT delivery_id, due_at, retrying, resource_id, sequence FROM webhooks_delivery_due
     WHERE (endpoint_id, retrying, due_at) > (open.id, false, timestamptz '-infinity')
       AND (endpoint_id, retrying, due_at) <= (open.id, false, now())
     ORDER BY endpoint_id, retrying, due_at LIMIT CASE WHEN open.ordered THEN open.reach + 64 ELSE open.reach END)
    UNION ALL
    (SELECT delivery_id, due_at, retrying, resource_id, sequence FROM webhooks_delivery_due
     WHERE (endpoint_id, retrying, due_at) > (open.id, true, timestamptz '-infinity')
       AND (endpoint_id, retrying, due_at) <= (open.id, true, now())
     ORDER BY endpoint_id, retrying, due_at LIMIT CASE WHEN open.ordered THEN open.reach + 64 ELSE open.reach END)) due),
{_IN_ORDER}
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY endpoint_id
    ORDER BY (nth - random()) / CASE WHEN retrying THEN 0.3 ELSE 0.7 END) AS place
  FROM (SELECT found.*, row_number() OVER (PARTITION BY endpoint_id, retrying ORDER BY due_at) AS nth
        FROM found WHERE delivery_id NOT IN (SELECT delivery_id FROM behind)) free),
fit AS (
  SELECT *, row_number() OVER (PARTITION BY retrying ORDER BY place, due_at) AS turn,
         count(*) FILTER (WHERE NOT retrying) OVER () AS firsts, count(*) FILTER (WHERE retrying) OVER () AS agains
  FROM ranked WHERE place <= places),
split AS (
  SELECT *, LEAST(firsts, GREATEST(LEAST(%(first_share)s, %(limit)s), %(limit)s - agains)) AS first_slots FROM fit),
chosen AS (
  SELECT due.place FROM split CROSS JOIN LATERAL (
    SELECT ctid AS place FROM webhooks_delivery_due
    WHERE tenant_id = split.tenant_id AND delivery_id = split.delivery_id AND due_at <= now()
    FOR UPDATE SKIP LOCKED) due
  WHERE split.turn <= CASE WHEN split.retrying THEN %(limit)s - split.first_slots ELSE split.first_slots END),
taken AS (
  UPDATE webhooks_delivery_due due
  SET due_at = now() + %(lease_seconds)s * interval '1 second', lease = %(lease)s, claims = claims + 1
  WHERE due.ctid = ANY(ARRAY(SELECT place FROM chosen)) RETURNING due.*),
noted AS (
  INSERT INTO webhooks_endpoint_health AS health (endpoint_id, tenant_id, next_send_at)
  SELECT open.id, open.tenant_id, min(open.sends_from) + count(*) / min(open.max_rps)::float8 * interval '1 second'
  FROM taken JOIN open ON open.id = taken.endpoint_id WHERE open.probing OR open.max_rps IS NOT NULL
  GROUP BY open.id, open.tenant_id ORDER BY open.id
  ON CONFLICT (endpoint_id, tenant_id) DO UPDATE SET
    next_send_at = COALESCE(EXCLUDED.next_send_at, health.next_send_at),
    circuit_state = CASE WHEN health.circuit_state = '{states.CLOSED}' THEN '{states.CLOSED}'
                         ELSE '{states.HALF_OPEN}' END RETURNING 1)
SELECT (SELECT CASE WHEN count(*) = %(hops)s THEN (array_agg(endpoint_id ORDER BY step DESC))[1] END FROM hop) AS after,
       silent.tenants AS inactive_tenants, silent.endpoints AS inactive,
       taken.delivery_id, taken.created_at, taken.tenant_id, taken.event_id, taken.endpoint_id, taken.attempts,
       taken.attempts_before, taken.claims, CASE WHEN open.probing THEN '{states.PROBE}' ELSE taken.trigger END AS trigger,
       COALESCE(other.body, event.body) AS body
FROM (SELECT array_agg(tenant_id) AS tenants, array_agg(id) AS endpoints FROM room WHERE NOT active) silent
LEFT JOIN taken ON true
LEFT JOIN open ON open.id = taken.endpoint_id
LEFT JOIN webhooks_event event
  ON event.tenant_id = taken.tenant_id AND event.created_at = taken.created_at AND event.id = taken.event_id
LEFT JOIN webhooks_event_body other
  ON (open.payload_mode <> 'thin' OR open.api_version <> event.api_version)
  AND other.tenant_id = taken.tenant_id AND other.created_at = taken.created_at AND other.event_id = taken.event_id
  AND other.api_version = open.api_version AND other.payload_mode = open.payload_mode
"""

# Rows of many tenants by their keys, which are given in two arrays and in the order in which rows are locked. Each is
# looked up by itself (LATERAL …), so that no plan reads a whole table.
_GIVEN: Final = "unnest(%(tenants)s::uuid[], %(ids)s::uuid[]) AS given (tenant_id, id)"

TARGETS: Final = f"""
SELECT endpoint.tenant_id, endpoint.id, endpoint.url, endpoint.active AND tenant.status = 'active' AS active, live.*
FROM {_GIVEN} CROSS JOIN LATERAL (
  SELECT * FROM webhooks_endpoint WHERE tenant_id = given.tenant_id AND id = given.id OFFSET 0) endpoint
JOIN organizations_tenant tenant ON tenant.id = endpoint.tenant_id
CROSS JOIN LATERAL (
  SELECT array_agg(id) AS secret_ids, array_agg(kind) AS kinds, array_agg(sealed_key) AS sealed_keys
  FROM (SELECT id, kind, sealed_key FROM webhooks_secret secret
        WHERE tenant_id = endpoint.tenant_id AND endpoint_id = endpoint.id AND {Secret.VALIDITY.holds_now("secret")}
        ORDER BY created_at DESC) newest_first) live
"""

_BUCKET_COUNTS: Final = ", ".join(
    f"count(*) FILTER (WHERE duration_ms >= {low} AND duration_ms < {high})"
    for low, high in zip((0, *stats.BOUNDS_MS), (*stats.BOUNDS_MS, 2**31 - 1), strict=True)
)

_HOURS: Final = f"""
hours AS (
  INSERT INTO webhooks_endpoint_hour AS kept_hour
    (id, tenant_id, endpoint_id, hour, attempts, delivered, failed, duration_ms, duration_buckets)
  SELECT uuidv7(), tenant_id, endpoint_id, date_trunc('hour', at, 'UTC'), count(*),
         count(*) FILTER (WHERE status BETWEEN 200 AND 299), count(*) FILTER (WHERE owned AND state = '{states.FAILED}'),
         sum(duration_ms), ARRAY[{_BUCKET_COUNTS}]::int[]
  FROM fresh GROUP BY tenant_id, endpoint_id, date_trunc('hour', at, 'UTC') ORDER BY 3, 4
  ON CONFLICT (endpoint_id, hour, tenant_id) DO UPDATE SET attempts = kept_hour.attempts + EXCLUDED.attempts,
    delivered = kept_hour.delivered + EXCLUDED.delivered, failed = kept_hour.failed + EXCLUDED.failed,
    duration_ms = kept_hour.duration_ms + EXCLUDED.duration_ms,
    duration_buckets = ARRAY(SELECT COALESCE(a, 0) + COALESCE(b, 0)
      FROM unnest(kept_hour.duration_buckets, EXCLUDED.duration_buckets) WITH ORDINALITY AS pair (a, b, n) ORDER BY n) RETURNING 1),
"""

# A success wipes the slate; failures after it, or on top of those before, count. Ten in a row open the circuit, a failed
# probe opens it again for twice as long. Endpoints that do well and did well are not written at all.
_HEALTH: Final = f"""
judged AS (
  SELECT endpoint_id, tenant_id, at, status, pause_seconds, trigger,
         COALESCE(status BETWEEN 200 AND 299, false) AS good,
         max(at) FILTER (WHERE status BETWEEN 200 AND 299) OVER (PARTITION BY endpoint_id) AS last_good
  FROM fresh WHERE asked),
tally AS (
  SELECT endpoint_id, tenant_id, last_good, max(pause_seconds) AS pause_seconds, bool_or(status = {schedule.GONE}) AS gone,
         count(*) FILTER (WHERE bad) AS failures, min(at) FILTER (WHERE bad) AS bad_from,
         max(at) FILTER (WHERE bad) AS bad_last, bool_or(bad AND trigger = '{states.PROBE}') AS probe_failed
  FROM (SELECT *, NOT good AND at >= COALESCE(last_good, at) AS bad FROM judged) judged
  GROUP BY endpoint_id, tenant_id, last_good),
before AS (
  SELECT health.* FROM webhooks_endpoint_health health JOIN tally USING (tenant_id, endpoint_id)
  ORDER BY endpoint_id FOR UPDATE OF health),
now_so AS (
  SELECT tally.*, before.paused_until, before.gone_at,
         CASE WHEN last_good IS NULL THEN COALESCE(before.consecutive_failures, 0) ELSE 0 END + failures AS in_a_row,
         CASE WHEN last_good IS NULL THEN COALESCE(before.failing_since, bad_from) ELSE bad_from END AS since,
         COALESCE(bad_last, before.last_failure_at) AS failed_at, CASE WHEN last_good IS NULL THEN before.warned_at END AS warned_at,
         CASE WHEN last_good IS NULL THEN COALESCE(before.circuit_state, '{states.CLOSED}') ELSE '{states.CLOSED}' END AS circuit,
         CASE WHEN last_good IS NULL THEN before.circuit_until END AS until,
         CASE WHEN last_good IS NULL THEN COALESCE(before.circuit_openings, 0) ELSE 0 END AS openings
  FROM tally LEFT JOIN before USING (tenant_id, endpoint_id)
  WHERE failures > 0 OR tally.pause_seconds IS NOT NULL OR gone
    OR before.consecutive_failures > 0 OR before.circuit_state <> '{states.CLOSED}'),
verdict AS (
  SELECT *, now() AS judged_at, (circuit = '{states.CLOSED}' AND in_a_row >= {schedule.CIRCUIT_FAILURES})
    OR (circuit <> '{states.CLOSED}' AND probe_failed) AS opens FROM now_so),
health AS (
  INSERT INTO webhooks_endpoint_health AS kept (endpoint_id, tenant_id, consecutive_failures, failing_since,
    last_failure_at, warned_at, circuit_state, circuit_until, circuit_openings, paused_until, gone_at)
  SELECT endpoint_id, tenant_id, in_a_row, since, failed_at, warned_at, CASE WHEN opens THEN '{states.OPEN}' ELSE circuit END,
    CASE WHEN opens THEN judged_at + interval '1 second'
      * LEAST({schedule.CIRCUIT_SECONDS} * 2.0 ^ LEAST(openings, 10), {schedule.CIRCUIT_LONGEST_SECONDS}) ELSE until END,
    openings + opens::int, GREATEST(paused_until, now() + pause_seconds * interval '1 second'),
    COALESCE(gone_at, CASE WHEN gone THEN judged_at END)
  FROM verdict ORDER BY endpoint_id
  ON CONFLICT (endpoint_id, tenant_id) DO UPDATE SET consecutive_failures = EXCLUDED.consecutive_failures,
    failing_since = EXCLUDED.failing_since, last_failure_at = EXCLUDED.last_failure_at,
    warned_at = EXCLUDED.warned_at, circuit_state = EXCLUDED.circuit_state, circuit_until = EXCLUDED.circuit_until,
    circuit_openings = EXCLUDED.circuit_openings, paused_until = GREATEST(kept.paused_until, EXCLUDED.paused_until),
    gone_at = COALESCE(kept.gone_at, EXCLUDED.gone_at) RETURNING 1)
"""

# The lease fences: a worker that comes back after its lease ended adds its attempt to the history and nothing else.
# An attempt may conflict with itself: its statement is repeated when the connection broke before the answer came; what is
# counted, is counted from the attempts that are new.
FINISH: Final = f"""
WITH result AS MATERIALIZED (SELECT * FROM json_to_recordset(%(outcomes)s) AS r (
    attempt_id uuid, at timestamptz, delivery_id uuid, created_at timestamptz, tenant_id uuid, endpoint_id uuid,
    number smallint, attempts_before smallint, status smallint, error text, duration_ms int, excerpt text, headers jsonb,
    timings jsonb, remote_ip inet, trigger text, state text, delay_seconds float8, pause_seconds float8, asked bool)),
own AS (
  SELECT result.*, due.resource_id, due.sequence, now() AS ended_at
  FROM result JOIN webhooks_delivery_due due USING (tenant_id, delivery_id)
  WHERE due.lease = %(lease)s ORDER BY delivery_id FOR UPDATE OF due),
kept AS (
  INSERT INTO webhooks_attempt (id, created_at, tenant_id, delivery_id, endpoint_id, number, status, error, duration_ms,
                                response_excerpt, response_headers, timings, remote_ip, trigger, lease)
  SELECT attempt_id, at, tenant_id, delivery_id, endpoint_id, number, status, error, duration_ms, excerpt, headers,
         timings, remote_ip, trigger, %(lease)s FROM result ON CONFLICT DO NOTHING RETURNING id),
fresh AS MATERIALIZED (
  SELECT result.*, own.delivery_id IS NOT NULL AS owned FROM result JOIN kept ON kept.id = result.attempt_id
  LEFT JOIN own USING (delivery_id)),
ended AS (DELETE FROM webhooks_delivery_due due USING own
  WHERE due.tenant_id = own.tenant_id AND due.delivery_id = own.delivery_id AND own.delay_seconds IS NULL),
postponed AS (
  UPDATE webhooks_delivery_due due
  SET due_at = now() + own.delay_seconds * interval '1 second', attempts = own.number, claims = own.number, lease = NULL,
      attempts_before = own.attempts_before, trigger = '{states.SCHEDULE}'
  FROM own
  WHERE due.tenant_id = own.tenant_id AND due.delivery_id = own.delivery_id AND own.delay_seconds IS NOT NULL),
pulled AS (
  UPDATE webhooks_delivery_due due SET due_at = now()
  FROM (SELECT own.tenant_id, following.delivery_id FROM own CROSS JOIN LATERAL (
      SELECT delivery_id FROM webhooks_delivery_due later
      WHERE later.endpoint_id = own.endpoint_id AND later.resource_id = own.resource_id
        AND later.sequence > own.sequence AND later.lease IS NULL AND NOT later.retrying
      ORDER BY later.sequence LIMIT 1 FOR UPDATE SKIP LOCKED) following
    WHERE own.resource_id IS NOT NULL AND own.delay_seconds IS NULL) pull
  WHERE due.tenant_id = pull.tenant_id AND due.delivery_id = pull.delivery_id),
{_HOURS}
{_HEALTH}
UPDATE webhooks_delivery delivery
SET state = own.state, attempts = own.number, attempts_before = own.attempts_before, last_status = own.status,
    last_error = own.error, next_attempt_at = now() + own.delay_seconds * interval '1 second',
    done_at = CASE WHEN own.delay_seconds IS NULL THEN own.ended_at END
FROM own
WHERE delivery.tenant_id = own.tenant_id AND delivery.created_at = own.created_at AND delivery.id = own.delivery_id
"""

# The share lock makes this wait for a re-activation that is under way; if that wins, the rows stay and run again.
# An event that was fanned out while its endpoint was being deleted has nobody left to wait for: it has failed.
FREEZE: Final = f"""
WITH silent AS MATERIALIZED (
  SELECT endpoint.* FROM {_GIVEN} CROSS JOIN LATERAL (
    SELECT id, deleted_at FROM webhooks_endpoint
    WHERE tenant_id = given.tenant_id AND id = given.id AND NOT active FOR SHARE) endpoint),
frozen AS (
  DELETE FROM webhooks_delivery_due WHERE ctid = ANY(ARRAY(
    SELECT due.place FROM silent CROSS JOIN LATERAL (
      SELECT ctid AS place FROM webhooks_delivery_due
      WHERE endpoint_id = silent.id AND (lease IS NULL OR due_at <= now())
      ORDER BY delivery_id FOR UPDATE SKIP LOCKED) due))
  RETURNING tenant_id, delivery_id, created_at, endpoint_id)
UPDATE webhooks_delivery delivery SET state = '{states.FAILED}', done_at = now(), next_attempt_at = NULL
FROM frozen JOIN silent ON silent.id = frozen.endpoint_id
WHERE silent.deleted_at IS NOT NULL AND delivery.tenant_id = frozen.tenant_id
  AND delivery.created_at = frozen.created_at AND delivery.id = frozen.delivery_id
  AND delivery.state = ANY(ARRAY['{states.CREATED}', '{states.PENDING}', '{states.RETRYING}'])
"""

RELEASE: Final = f"""
UPDATE webhooks_delivery_due SET due_at = now(), lease = NULL, claims = claims - 1 WHERE ctid = ANY(ARRAY(
  SELECT due.place FROM {_GIVEN} CROSS JOIN LATERAL (
    SELECT ctid AS place FROM webhooks_delivery_due
    WHERE tenant_id = given.tenant_id AND delivery_id = given.id AND lease = %(lease)s FOR UPDATE) due))
"""

USE_KEYS: Final = f"""
UPDATE webhooks_secret SET last_used_at = now() WHERE ctid = ANY(ARRAY(
  SELECT secret.place FROM {_GIVEN} CROSS JOIN LATERAL (
    SELECT ctid AS place FROM webhooks_secret WHERE tenant_id = given.tenant_id AND id = given.id
      AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute') FOR UPDATE SKIP LOCKED) secret))
"""

# Run as the login role: the figures belong to no tenant.
METER: Final = """
INSERT INTO webhooks_meter AS meter (name, value)
SELECT name, value FROM unnest(%(names)s::text[], %(values)s::bigint[]) AS more (name, value) ORDER BY name
ON CONFLICT (name) DO UPDATE SET value = meter.value + EXCLUDED.value RETURNING 1
"""
