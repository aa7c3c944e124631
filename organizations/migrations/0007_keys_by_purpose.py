"""Gives each signing key a purpose, and lets a membership name any FHIR id of a practitioner.

Safe: every key that there is signs tokens, which is the default of the new column; a process of the version before reads
and makes keys for tokens only. The table of keys has some ten rows. The ids of practitioners keep their text; the table of
memberships is rewritten under a lock, which takes about a second for a million rows.
"""

from django.db import migrations, models

_KEEP = """
CREATE FUNCTION organizations_keep_signing_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.purpose = 'token' THEN RETURN OLD; END IF;
    RAISE EXCEPTION 'a key for % is kept for good', OLD.purpose USING ERRCODE = 'restrict_violation';
  END IF;
  IF (NEW.kid, NEW.purpose, NEW.algorithm, NEW.public_pem, NEW.created_at)
       IS DISTINCT FROM (OLD.kid, OLD.purpose, OLD.algorithm, OLD.public_pem, OLD.created_at)
     OR (OLD.status <> 'active' AND (NEW.status = 'active' OR NEW.retired_at IS DISTINCT FROM OLD.retired_at))
     OR (OLD.compromised_at IS NOT NULL AND NEW.compromised_at IS DISTINCT FROM OLD.compromised_at) THEN
    RAISE EXCEPTION 'what is known of a signing key is never rewritten' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER organizations_keep_signing_key BEFORE UPDATE OR DELETE ON organizations_signingkey
FOR EACH ROW EXECUTE FUNCTION organizations_keep_signing_key();
"""


class Migration(migrations.Migration):
    """Three columns, their constraints, a trigger, and the type of one column."""

    dependencies = [
        ('organizations', '0006_location_time_zone'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='signingkey',
            name='organizations_one_active_signing_key',
        ),
        migrations.AddField(
            model_name='signingkey',
            name='compromised_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='signingkey',
            name='purpose',
            field=models.CharField(choices=[('token', 'Token'), ('snapshot', 'Snapshot'), ('checkpoint', 'Checkpoint')], db_default='token', default='token', max_length=10),
        ),
        migrations.AddField(
            model_name='signingkey',
            name='retired_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name='membership',
            name='practitioner_id',
            field=models.CharField(blank=True, help_text='The FHIR id of a Practitioner of the tenant.', max_length=64, null=True),
        ),
        migrations.AddConstraint(
            model_name='signingkey',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'active')), fields=('purpose',), name='organizations_one_active_key_a_purpose'),
        ),
        migrations.AddConstraint(
            model_name='signingkey',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('algorithm', 'RS256'), ('purpose', 'token')), models.Q(('algorithm', 'ES256'), ('purpose__in', ['snapshot', 'checkpoint'])), _connector='OR'), name='organizations_signing_key_algorithm_fits'),
        ),
        migrations.AddConstraint(
            model_name='signingkey',
            constraint=models.CheckConstraint(condition=models.Q(('status', 'active'), ('sealed_pem__isnull', True), _connector='OR'), name='organizations_signing_key_private_while_active'),
        ),
        migrations.AddConstraint(
            model_name='signingkey',
            constraint=models.CheckConstraint(condition=models.Q(('compromised_at__isnull', True), ('status', 'retired'), _connector='OR'), name='organizations_signing_key_compromised_retired'),
        ),
        migrations.RunSQL(_KEEP, "DROP FUNCTION organizations_keep_signing_key() CASCADE"),
    ]
