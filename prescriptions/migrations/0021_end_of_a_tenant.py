"""Prescriptions of a tenant that is being closed may be deleted; in any other they never are."""

from django.db import migrations

GUARDS = """
CREATE OR REPLACE FUNCTION hp_guard_prescription() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF (OLD.status <> 'draft' OR OLD.chain_length > 0)
       AND NOT EXISTS (SELECT 1 FROM organizations_tenant n
                        WHERE n.id = OLD.tenant_id AND n.status IN ('offboarding', 'closed')) THEN
      RAISE EXCEPTION 'a prescription is never deleted'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'prescriptions_rx_kept';
    END IF;
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'what was signed does not change'
    USING ERRCODE = 'check_violation', CONSTRAINT = 'prescriptions_rx_snapshot_once';
END $$;

CREATE OR REPLACE FUNCTION hp_guard_prescription_item() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE was prescriptions_prescriptionitem := coalesce(OLD, NEW); signed boolean;
BEGIN
  SELECT p.snapshot_id IS NOT NULL INTO signed FROM prescriptions_prescription p
   WHERE p.tenant_id = was.tenant_id AND p.id = was.prescription_id;
  IF signed AND NOT (TG_OP = 'DELETE' AND EXISTS (SELECT 1 FROM organizations_tenant n
                      WHERE n.id = was.tenant_id AND n.status IN ('offboarding', 'closed'))) THEN
    RAISE EXCEPTION 'items of a signed prescription do not change'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'prescriptions_item_fixed';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
"""
BACK = """
CREATE OR REPLACE FUNCTION hp_guard_prescription() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.status <> 'draft' OR OLD.chain_length > 0 THEN
      RAISE EXCEPTION 'a prescription is never deleted'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'prescriptions_rx_kept';
    END IF;
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'what was signed does not change'
    USING ERRCODE = 'check_violation', CONSTRAINT = 'prescriptions_rx_snapshot_once';
END $$;

CREATE OR REPLACE FUNCTION hp_guard_prescription_item() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE was prescriptions_prescriptionitem := coalesce(OLD, NEW); signed boolean;
BEGIN
  SELECT p.snapshot_id IS NOT NULL INTO signed FROM prescriptions_prescription p
   WHERE p.tenant_id = was.tenant_id AND p.id = was.prescription_id;
  IF signed THEN
    RAISE EXCEPTION 'items of a signed prescription do not change'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'prescriptions_item_fixed';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):
    """The functions of the guards anew. Safe: no table is locked, and what they refused in a working tenant they refuse."""

    dependencies = [("prescriptions", "0020_nodes_of_checkpoints")]

    operations = [migrations.RunSQL(GUARDS, BACK)]
