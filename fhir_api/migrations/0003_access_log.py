"""Makes the access log: two tables cut into months from the first row on, and the function that drops old months.

Until the upkeep has made months ahead, rows lie in the default partitions, as those of the webhooks' history do. The
database itself refuses to drop what is younger than a year, whatever the settings say.
Safe: the tables are new.
"""

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models

import core.ids

RECORDS = """
CREATE TABLE fhir_api_accessrecord (
  id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  tenant_id uuid NOT NULL,
  subject_id uuid NOT NULL,
  subject_kind varchar(10) NOT NULL,
  credential varchar(120) NOT NULL,
  membership_id uuid,
  request_id varchar(128) NOT NULL,
  interaction varchar(20) NOT NULL,
  resource_type varchar(24) NOT NULL,
  resource_id varchar(64) COLLATE "C" NOT NULL,
  parameters varchar(80)[] NOT NULL,
  patients varchar(64)[] NOT NULL,
  count integer NOT NULL CHECK (count >= 0),
  outcome smallint NOT NULL CHECK (outcome >= 0),
  reason varchar(500) NOT NULL,
  PRIMARY KEY (created_at, id)
) PARTITION BY RANGE (created_at)
"""
PATIENTS = """
CREATE TABLE fhir_api_accesspatient (
  id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  tenant_id uuid NOT NULL,
  patient varchar(64) COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, patient, created_at, id)
) PARTITION BY RANGE (created_at)
"""
EVERYBODY = "PUBLIC, hp_app, hp_dispatcher, hp_runtime, hp_platform"
DROP = """
CREATE FUNCTION hp_access_drop(parent text, child text, keep interval) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp SET lock_timeout = '500ms' AS $$
DECLARE upper timestamptz;
BEGIN
  IF parent IS NULL OR parent NOT IN ('fhir_api_accessrecord', 'fhir_api_accesspatient') THEN
    RAISE EXCEPTION '% is not the access log', parent USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF keep IS NULL OR keep < interval '365 days' THEN
    RAISE EXCEPTION 'the access log is kept for 365 days at least' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \\(''([^'']+)''\\)') INTO upper
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass(parent) AND c.relname = child;
  IF upper IS NULL OR upper > now() - keep THEN
    RAISE EXCEPTION '% is not old enough to be dropped', child USING ERRCODE = 'invalid_parameter_value';
  END IF;
  EXECUTE format('DROP TABLE %I', child);
END $$
"""


def rest(table):
    """The default partition, which nobody but the owner touches by its own name."""
    return [
        f"CREATE TABLE {table}_rest PARTITION OF {table} DEFAULT",
        f"REVOKE ALL ON {table}_rest FROM {EVERYBODY}",
    ]


class Migration(migrations.Migration):
    """Two tables and a function."""

    dependencies = [("fhir_api", "0002_search")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    [
                        RECORDS,
                        *rest("fhir_api_accessrecord"),
                        "CREATE INDEX fhir_api_access_by_time ON fhir_api_accessrecord (tenant_id, created_at, id)",
                        "CREATE INDEX fhir_api_access_by_subject ON fhir_api_accessrecord (tenant_id, subject_id, created_at, id)",
                        PATIENTS,
                        *rest("fhir_api_accesspatient"),
                    ],
                    ["DROP TABLE fhir_api_accesspatient", "DROP TABLE fhir_api_accessrecord"],
                )
            ],
            state_operations=[
                migrations.CreateModel(
                    name="AccessPatient",
                    fields=[
                        ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                        ("created_at", models.DateTimeField()),
                        ("tenant_id", models.UUIDField()),
                        ("patient", models.CharField(db_collation="C", max_length=64)),
                    ],
                ),
                migrations.CreateModel(
                    name="AccessRecord",
                    fields=[
                        (
                            "id",
                            models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False),
                        ),
                        ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ("tenant_id", models.UUIDField()),
                        ("subject_id", models.UUIDField()),
                        ("subject_kind", models.CharField(max_length=10)),
                        ("credential", models.CharField(max_length=120)),
                        ("membership_id", models.UUIDField(null=True)),
                        ("request_id", models.CharField(blank=True, max_length=128)),
                        ("interaction", models.CharField(max_length=20)),
                        ("resource_type", models.CharField(blank=True, max_length=24)),
                        ("resource_id", models.CharField(blank=True, db_collation="C", max_length=64)),
                        (
                            "parameters",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.CharField(max_length=80), default=list, size=None
                            ),
                        ),
                        (
                            "patients",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.CharField(max_length=64), default=list, size=None
                            ),
                        ),
                        ("count", models.PositiveIntegerField()),
                        ("outcome", models.PositiveSmallIntegerField()),
                        ("reason", models.CharField(blank=True, max_length=500)),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["tenant_id", "created_at", "id"], name="fhir_api_access_by_time"),
                            models.Index(
                                fields=["tenant_id", "subject_id", "created_at", "id"],
                                name="fhir_api_access_by_subject",
                            ),
                        ],
                    },
                ),
            ],
        ),
        migrations.RunSQL(
            [
                DROP,
                "REVOKE ALL ON FUNCTION hp_access_drop(text, text, interval) FROM PUBLIC",
                "GRANT EXECUTE ON FUNCTION hp_access_drop(text, text, interval) TO hp_platform",
            ],
            ["DROP FUNCTION hp_access_drop(text, text, interval)"],
        ),
    ]
