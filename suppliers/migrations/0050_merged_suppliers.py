"""A function by which receipts name another supplier, when a managed one is merged into it.

Receipts are never changed, so that only the owner's function can do it: of one buyer, which is bound, from a supplier that it
manages to one on the platform. Safe: it makes a function and touches no table.
"""

from typing import ClassVar

from django.db import migrations

FUNCTION = """
CREATE FUNCTION suppliers_merge_receipts(buyer uuid, managed uuid, target uuid) RETURNS int LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '500ms' AS $$
DECLARE changed int;
BEGIN
  IF buyer IS DISTINCT FROM NULLIF(current_setting('app.tenant_id', true), '')::uuid THEN
    RAISE EXCEPTION 'the buyer is not bound' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NOT EXISTS (SELECT FROM organizations_tenant n WHERE n.id = managed AND n.managed_by_id = buyer AND n.status <> 'closed')
     OR NOT EXISTS (SELECT FROM organizations_tenant n WHERE n.id = target AND n.managed_by_id IS NULL
                    AND n.status = 'active' AND 'supplier' = ANY(n.kinds)) THEN
    RAISE EXCEPTION 'the suppliers cannot be merged' USING ERRCODE = 'insufficient_privilege';
  END IF;
  PERFORM set_config('hp.may_change', 'suppliers_receipt', true);
  UPDATE suppliers_receipt r SET supplier_tenant_id = target, version = r.version + 1
  WHERE r.tenant_id = buyer AND r.supplier_tenant_id = managed;
  GET DIAGNOSTICS changed = ROW_COUNT;
  PERFORM set_config('hp.may_change', '', true);
  RETURN changed;
END $$
"""
NAME = "suppliers_merge_receipts(uuid, uuid, uuid)"


class Migration(migrations.Migration):
    """The function, which a session that is bound to a tenant may call."""

    dependencies: ClassVar = [("organizations", "0012_merged_suppliers"), ("suppliers", "0049_files_of_agreements")]

    operations: ClassVar = [
        migrations.RunSQL(
            [FUNCTION, f"REVOKE ALL ON FUNCTION {NAME} FROM PUBLIC", f"GRANT EXECUTE ON FUNCTION {NAME} TO hp_app"],
            f"DROP FUNCTION {NAME}",
        ),
    ]
