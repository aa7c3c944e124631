"""Runs of the clinical validation never change; they are deleted with the tenant that is being closed.

Safe: no release has the table yet.
"""

from django.db import migrations

GUARD = """
CREATE OR REPLACE FUNCTION hp_guard_validation_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND EXISTS (SELECT 1 FROM organizations_tenant n
                                   WHERE n.id = OLD.tenant_id AND n.status IN ('offboarding', 'closed')) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'a run of the validation is kept as it ended'
    USING ERRCODE = 'restrict_violation', CONSTRAINT = 'prescriptions_run_kept';
END $$;
DROP TRIGGER IF EXISTS hp_append_only ON prescriptions_validationrun;
DROP TRIGGER IF EXISTS hp_no_truncate ON prescriptions_validationrun;
CREATE TRIGGER prescriptions_run_kept BEFORE UPDATE OR DELETE ON prescriptions_validationrun
  FOR EACH ROW EXECUTE FUNCTION hp_guard_validation_run();
"""
BACK = """
DROP TRIGGER prescriptions_run_kept ON prescriptions_validationrun;
DROP FUNCTION hp_guard_validation_run();
"""


class Migration(migrations.Migration):
    """A trigger on the table of runs. Safe: the table is new, and no row changes."""

    dependencies = [("prescriptions", "0041_place_of_requests")]

    operations = [migrations.RunSQL(GUARD, BACK)]
