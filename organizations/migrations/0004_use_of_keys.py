"""Moves the use of API keys into a table of its own: keys are read on every request, their use is written all the time.

Safe: the use that there is moves along. A process of the version before, which still runs meanwhile, only fails to write
the use of a key, outside the request, and says so in its log; its reads of keys name no column that goes, but for the
list of keys.
"""

import django.db.models.deletion
from django.db import migrations, models

_MOVE = """
INSERT INTO organizations_apikeyuse (api_key_id, tenant_id, last_used_at, last_used_ip, usage_count)
SELECT id, tenant_id, last_used_at, last_used_ip, usage_count FROM organizations_apikey WHERE last_used_at IS NOT NULL
"""
_MOVE_BACK = """
UPDATE organizations_apikey k SET last_used_at = u.last_used_at, last_used_ip = u.last_used_ip, usage_count = u.usage_count
FROM organizations_apikeyuse u WHERE u.api_key_id = k.id
"""


class Migration(migrations.Migration):
    """A table, its rows, and the three columns that they come from."""

    dependencies = [("organizations", "0003_one_patient")]

    operations = [
        migrations.CreateModel(
            name="ApiKeyUse",
            fields=[
                (
                    "api_key",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="use",
                        serialize=False,
                        to="organizations.apikey",
                    ),
                ),
                ("tenant_id", models.UUIDField()),
                ("last_used_at", models.DateTimeField(help_text="The last use, up to a minute late.", null=True)),
                (
                    "last_used_ip",
                    models.GenericIPAddressField(help_text="The network address of the last use.", null=True),
                ),
                (
                    "usage_count",
                    models.BigIntegerField(
                        db_default=0, help_text="How often the key was used, up to a minute late."
                    ),
                ),
            ],
        ),
        migrations.RunSQL(_MOVE, _MOVE_BACK),
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE", migrations.RunSQL.noop),
        migrations.RemoveField(model_name="apikey", name="last_used_at"),
        migrations.RemoveField(model_name="apikey", name="last_used_ip"),
        migrations.RemoveField(model_name="apikey", name="usage_count"),
    ]
