"""Makes the functions by which the history's ranges are made and dropped, and by which a body is expunged.

They run as the owner, because nobody else may own a table; each knows the four tables by name and refuses what lies
outside its one task (docs/decisions/0030-retention-of-webhook-history.md). The platform's login may run those of the
ranges; a tenant-bound session may run the one that expunges, and only with a fact in the tenant's ledger.
Safe: it makes functions and touches no table.
"""

from django.db import migrations

DEFINER = "LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '500ms'"
EVERYBODY = "PUBLIC, hp_app, hp_dispatcher, hp_runtime, hp_platform"

KNOWN = f"""
CREATE FUNCTION hp_history_known(parent text) RETURNS void {DEFINER} AS $$
BEGIN
  IF parent IS NULL OR parent NOT IN ('webhooks_event', 'webhooks_event_body', 'webhooks_delivery', 'webhooks_attempt') THEN
    RAISE EXCEPTION '% is no history', parent USING ERRCODE = 'insufficient_privilege';
  END IF;
END $$
"""

# By the day on which it begins; to the microsecond where that is not midnight.
NAME = f"""
CREATE FUNCTION hp_history_name(parent text, lower timestamptz) RETURNS text {DEFINER} AS $$
DECLARE began timestamp := lower AT TIME ZONE 'UTC';
BEGIN
  RETURN parent || '_' || CASE WHEN lower IS NULL THEN 'first' WHEN began = date_trunc('day', began)
    THEN to_char(began, 'YYYYMMDD') ELSE to_char(began, 'YYYYMMDD_HH24MISSUS') END;
END $$
"""

# A table like the parent that nobody but the owner may touch, with the storage of the default partition.
SHELL = f"""
CREATE FUNCTION hp_history_shell(parent text, child text) RETURNS void {DEFINER} AS $$
DECLARE options text;
BEGIN
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)', child, parent);
  EXECUTE format('REVOKE ALL ON %I FROM {EVERYBODY}', child);
  SELECT array_to_string(reloptions, ', ') INTO options FROM pg_class WHERE oid = to_regclass(parent || '_rest');
  IF options <> '' THEN EXECUTE format('ALTER TABLE %I SET (%s)', child, options); END IF;
END $$
"""

MAKE = f"""
CREATE FUNCTION hp_history_make(parent text, lower timestamptz, upper timestamptz) RETURNS text {DEFINER} AS $$
DECLARE child text := hp_history_name(parent, lower);
BEGIN
  PERFORM hp_history_known(parent);
  PERFORM hp_history_shell(parent, child);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child, lower, upper);
  RETURN child;
END $$
"""

# Before the default partition becomes a range: promise what its rows are, and let the promise be checked without a lock.
PROMISE = f"""
CREATE FUNCTION hp_history_promise(parent text, lower timestamptz, upper timestamptz) RETURNS void {DEFINER} AS $$
BEGIN
  PERFORM hp_history_known(parent);
  IF upper IS NULL OR upper < now() + interval '1 minute' THEN
    RAISE EXCEPTION 'new rows would be refused' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT hp_absorbed CHECK (created_at >= %L AND created_at < %L) NOT VALID',
                 parent || '_rest', coalesce(lower, '-infinity'), upper);
END $$
"""
CHECK = f"""
CREATE FUNCTION hp_history_check(parent text) RETURNS void {DEFINER} AS $$
BEGIN
  PERFORM hp_history_known(parent);
  EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT hp_absorbed', parent || '_rest');
END $$
"""
FORGET = f"""
CREATE FUNCTION hp_history_unpromise(parent text) RETURNS void {DEFINER} AS $$
BEGIN
  PERFORM hp_history_known(parent);
  IF EXISTS (SELECT FROM pg_constraint WHERE conname = 'hp_absorbed' AND conrelid = to_regclass(parent || '_rest')) THEN
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT hp_absorbed', parent || '_rest');
  END IF;
END $$
"""
ABSORB = f"""
CREATE FUNCTION hp_history_absorb(parent text, lower timestamptz, upper timestamptz) RETURNS text {DEFINER} AS $$
DECLARE
  rest text := parent || '_rest';
  child text := hp_history_name(parent, lower);
  options text;
BEGIN
  PERFORM hp_history_known(parent);
  IF NOT EXISTS (SELECT FROM pg_constraint
                 WHERE conname = 'hp_absorbed' AND convalidated AND conrelid = to_regclass(rest)) THEN
    RAISE EXCEPTION 'nothing was promised of %', rest USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  SELECT array_to_string(reloptions, ', ') INTO options FROM pg_class WHERE oid = to_regclass(rest);
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent);
  EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, rest);
  EXECUTE format('ALTER TABLE %I RENAME TO %I', rest, child);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%L)', parent, child,
                 coalesce(quote_literal(lower), 'MINVALUE'), upper);
  EXECUTE format('ALTER TABLE %I DROP CONSTRAINT hp_absorbed', child);
  EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', rest, parent);
  EXECUTE format('REVOKE ALL ON %I FROM {EVERYBODY}', rest);
  IF options <> '' THEN EXECUTE format('ALTER TABLE %I SET (%s)', rest, options); END IF;
  RETURN child;
END $$
"""

# At most `most` rows leave the default partition for a range that ends where they end; rows of one moment stay together.
MOVE = f"""
CREATE FUNCTION hp_history_move(parent text, lower timestamptz, upper timestamptz, most int) RETURNS timestamptz {DEFINER} AS $$
DECLARE
  rest text := parent || '_rest';
  child text := hp_history_name(parent, lower);
  until timestamptz;
BEGIN
  PERFORM hp_history_known(parent);
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', rest);
  EXECUTE format('SELECT created_at FROM %I WHERE created_at >= $1 AND created_at < $2 ORDER BY created_at, id OFFSET $3 LIMIT 1',
                 rest) INTO until USING lower, upper, most;
  until := least(upper, greatest(coalesce(until, upper), lower + interval '1 microsecond'));
  PERFORM hp_history_shell(parent, child);
  PERFORM set_config('hp.may_change', rest, true);
  EXECUTE format('WITH moved AS (DELETE FROM %I WHERE created_at >= $1 AND created_at < $2 RETURNING *)'
                 ' INSERT INTO %I SELECT * FROM moved', rest, child) USING lower, until;
  PERFORM set_config('hp.may_change', '', true);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child, lower, until);
  RETURN until;
END $$
"""

# NULL: dropped. Otherwise what holds it back.
DROP = f"""
CREATE FUNCTION hp_history_drop(parent text, child text, keep interval) RETURNS text {DEFINER} AS $$
DECLARE
  bounds text;
  lower timestamptz;
  upper timestamptz;
BEGIN
  PERFORM hp_history_known(parent);
  IF keep IS NULL OR keep < interval '7 days' THEN
    RAISE EXCEPTION 'history is kept for 7 days at least' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT pg_get_expr(c.relpartbound, c.oid) INTO bounds FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = to_regclass(parent) AND c.relname = child;
  lower := coalesce(substring(bounds FROM 'FROM \\(''([^'']+)''\\)'), '-infinity');
  upper := substring(bounds FROM 'TO \\(''([^'']+)''\\)');
  IF upper IS NULL OR upper > now() - keep THEN
    RAISE EXCEPTION '% is not old enough to be dropped', child USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF EXISTS (SELECT FROM webhooks_delivery_due d WHERE d.created_at < upper AND (parent = 'webhooks_attempt' OR d.created_at >= lower)) THEN
    RETURN 'deliveries that are still under way';
  END IF;
  IF parent <> 'webhooks_attempt' THEN
    IF EXISTS (SELECT FROM webhooks_event_new e WHERE e.created_at >= lower AND e.created_at < upper) THEN
      RETURN 'events that were not fanned out';
    END IF;
    IF EXISTS (SELECT FROM webhooks_delivery d WHERE d.created_at >= lower AND d.created_at < upper
               AND d.state IN ('created', 'pending', 'retrying')) THEN
      RETURN 'deliveries that have not ended';
    END IF;
    IF EXISTS (SELECT FROM webhooks_replay r WHERE r.state IN ('queued', 'running') AND r.since < upper AND r.until >= lower) THEN
      RETURN 'a replay that is under way';
    END IF;
  END IF;
  EXECUTE format('DROP TABLE %I', child);
  RETURN NULL;
END $$
"""

# `fact` is the ledger's event of the expunging itself: without one, of this tenant and this minute, nothing is touched.
EXPUNGE = f"""
CREATE FUNCTION hp_webhooks_expunge(fact uuid, happened timestamptz) RETURNS int {DEFINER} AS $$
DECLARE
  tenant uuid := NULLIF(current_setting('app.tenant_id', true), '')::uuid;
  event uuid;
  part record;
  changed int;
  bodies int := 0;
BEGIN
  SELECT resource_id INTO event FROM ledger_event
  WHERE id = fact AND tenant_id = tenant AND type = 'webhook_event.expunged'
    AND occurred_at BETWEEN now() - interval '10 minutes' AND now() + interval '10 minutes';
  IF event IS NULL THEN
    RAISE EXCEPTION 'the ledger does not tell of this' USING ERRCODE = 'insufficient_privilege';
  END IF;
  FOR part IN
    SELECT 'webhooks_event' AS parent, c.relname FROM webhooks_event e JOIN pg_class c ON c.oid = e.tableoid
    WHERE e.created_at = happened AND e.id = event AND e.tenant_id = tenant
    UNION SELECT 'webhooks_event_body', c.relname FROM webhooks_event_body b JOIN pg_class c ON c.oid = b.tableoid
    WHERE b.created_at = happened AND b.event_id = event AND b.tenant_id = tenant
  LOOP
    PERFORM set_config('hp.may_change', part.relname, true);
    EXECUTE format('UPDATE %I SET body = convert_to(jsonb_set(convert_from(body, ''UTF8'')::jsonb, ''{{data}}'','
      ' jsonb_build_object(''object'', jsonb_build_object('
      '   ''type'', convert_from(body, ''UTF8'')::jsonb #> ''{{data,object,type}}'','
      '   ''id'', convert_from(body, ''UTF8'')::jsonb #> ''{{data,object,id}}'', ''expunged'', true)))::text, ''UTF8'')'
      ' WHERE created_at = $1 AND tenant_id = $2 AND %I = $3', part.relname,
      CASE part.parent WHEN 'webhooks_event' THEN 'id' ELSE 'event_id' END) USING happened, tenant, event;
    GET DIAGNOSTICS changed = ROW_COUNT;
    bodies := bodies + changed;
  END LOOP;
  FOR part IN
    SELECT c.relname, array_agg(a.id) AS ids FROM webhooks_delivery d
    JOIN webhooks_attempt a ON a.delivery_id = d.id AND a.tenant_id = tenant AND a.created_at >= happened
    JOIN pg_class c ON c.oid = a.tableoid
    WHERE d.created_at = happened AND d.event_id = event AND d.tenant_id = tenant AND a.response_excerpt <> ''
    GROUP BY c.relname
  LOOP
    PERFORM set_config('hp.may_change', part.relname, true);
    EXECUTE format('UPDATE %I SET response_excerpt = '''' WHERE id = ANY($1) AND created_at >= $2', part.relname)
      USING part.ids, happened;
  END LOOP;
  PERFORM set_config('hp.may_change', '', true);
  RETURN bodies;
END $$
"""

FUNCTIONS = {
    "hp_history_known(text)": (KNOWN, ""),
    "hp_history_name(text, timestamptz)": (NAME, ""),
    "hp_history_shell(text, text)": (SHELL, ""),
    "hp_history_make(text, timestamptz, timestamptz)": (MAKE, "hp_platform"),
    "hp_history_promise(text, timestamptz, timestamptz)": (PROMISE, "hp_platform"),
    "hp_history_check(text)": (CHECK, "hp_platform"),
    "hp_history_unpromise(text)": (FORGET, "hp_platform"),
    "hp_history_absorb(text, timestamptz, timestamptz)": (ABSORB, "hp_platform"),
    "hp_history_move(text, timestamptz, timestamptz, int)": (MOVE, "hp_platform"),
    "hp_history_drop(text, text, interval)": (DROP, "hp_platform"),
    "hp_webhooks_expunge(uuid, timestamptz)": (EXPUNGE, "hp_app"),
}


def _operation(name, text, role):
    made = [text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"), f"REVOKE ALL ON FUNCTION {name} FROM PUBLIC"]
    return migrations.RunSQL([*made, f"GRANT EXECUTE ON FUNCTION {name} TO {role}"] if role else made, f"DROP FUNCTION {name}")


class Migration(migrations.Migration):
    """The functions, each for one role at most."""

    dependencies = [("webhooks", "0005_fair_claims")]

    operations = [_operation(name, text, role) for name, (text, role) in FUNCTIONS.items()]
