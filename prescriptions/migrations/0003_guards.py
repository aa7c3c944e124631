"""What no statement may do to a prescription, whoever sends it. Source: contract, prescriptions.md "Lifecycle"."""

from django.db import migrations

GUARDS = """
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

CREATE TRIGGER prescriptions_rx_kept BEFORE DELETE ON prescriptions_prescription
  FOR EACH ROW EXECUTE FUNCTION hp_guard_prescription();
CREATE TRIGGER prescriptions_rx_snapshot_once BEFORE UPDATE ON prescriptions_prescription
  FOR EACH ROW WHEN (OLD.snapshot_id IS NOT NULL AND
    (OLD.snapshot_id, OLD.snapshot_digest, OLD.patient_id, OLD.number, OLD.signed_at, OLD.signed_by, OLD.expires_at,
     OLD.prescriber_id, OLD.valid_from, OLD.notes_to_pharmacy, OLD.patient_instructions)
    IS DISTINCT FROM
    (NEW.snapshot_id, NEW.snapshot_digest, NEW.patient_id, NEW.number, NEW.signed_at, NEW.signed_by, NEW.expires_at,
     NEW.prescriber_id, NEW.valid_from, NEW.notes_to_pharmacy, NEW.patient_instructions))
  EXECUTE FUNCTION hp_guard_prescription();

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

CREATE TRIGGER prescriptions_item_fixed BEFORE INSERT OR DELETE ON prescriptions_prescriptionitem
  FOR EACH ROW EXECUTE FUNCTION hp_guard_prescription_item();
CREATE TRIGGER prescriptions_item_fixed_columns BEFORE UPDATE ON prescriptions_prescriptionitem
  FOR EACH ROW WHEN (
    (OLD.prescription_id, OLD.line, OLD.medication, OLD.medication_text, OLD.dosage, OLD.quantity_value, OLD.quantity_unit,
     OLD.quantity_in_words, OLD.days_supply, OLD.fills_allowed, OLD.dispense_interval_days, OLD.substitution_allowed,
     OLD.substitution_reason, OLD.authorization_number, OLD.schedule, OLD.effective_schedule, OLD.prior_item_id)
    IS DISTINCT FROM
    (NEW.prescription_id, NEW.line, NEW.medication, NEW.medication_text, NEW.dosage, NEW.quantity_value, NEW.quantity_unit,
     NEW.quantity_in_words, NEW.days_supply, NEW.fills_allowed, NEW.dispense_interval_days, NEW.substitution_allowed,
     NEW.substitution_reason, NEW.authorization_number, NEW.schedule, NEW.effective_schedule, NEW.prior_item_id))
  EXECUTE FUNCTION hp_guard_prescription_item();
"""
BACK = """
DROP TRIGGER prescriptions_rx_kept ON prescriptions_prescription;
DROP TRIGGER prescriptions_rx_snapshot_once ON prescriptions_prescription;
DROP TRIGGER prescriptions_item_fixed ON prescriptions_prescriptionitem;
DROP TRIGGER prescriptions_item_fixed_columns ON prescriptions_prescriptionitem;
DROP FUNCTION hp_guard_prescription();
DROP FUNCTION hp_guard_prescription_item();
"""


class Migration(migrations.Migration):
    """Triggers on prescriptions and items. Safe: the tables are new."""

    dependencies = [("prescriptions", "0002_prescriptions")]

    operations = [migrations.RunSQL(GUARDS, BACK)]
