"""Gives OAuth clients public keys, or the address of their keys, in place of a secret.

Safe: two columns with defaults, and a constraint that every client without keys holds. A process of the version before
knows no client with keys and refuses it, since no secret has the digest that such a client stores.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Two columns and a constraint."""

    dependencies = [("organizations", "0004_use_of_keys")]

    operations = [
        migrations.AddField(
            model_name="oauthapplication",
            name="jwks",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="oauthapplication",
            name="jwks_uri",
            field=models.CharField(blank=True, db_default="", default="", max_length=2048),
        ),
        migrations.AddConstraint(
            model_name="oauthapplication",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("jwks__isnull", True), ("jwks_uri", "")),
                    models.Q(
                        models.Q(("jwks__isnull", True), ("jwks_uri", ""), _connector="OR"),
                        ("client_secret", "sha256_client_secret$$"),
                        ("client_type", "confidential"),
                    ),
                    _connector="OR",
                ),
                name="organizations_client_keys_or_secret",
            ),
        ),
    ]
