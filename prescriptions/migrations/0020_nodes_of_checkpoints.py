"""The nodes of the tree behind the checkpoints.

Safe: the tables came with the migrations before this one, and no release has them yet.
"""

import django.db.models.deletion
from django.db import migrations, models

import core.ids


class Migration(migrations.Migration):

    dependencies = [
        ("organizations", "0008_tenant_keys"),
        ("prescriptions", "0010_count_quantities_of_all_fills"),
    ]

    operations = [
        migrations.CreateModel(
            name="CheckpointNode",
            fields=[
                ("id", models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("level", models.PositiveIntegerField()),
                ("place", models.PositiveBigIntegerField()),
                ("digest", models.CharField(max_length=64)),
            ],
        ),
        migrations.RemoveIndex(
            model_name="checkpointleaf",
            name="prescriptions_leaf_by_number",
        ),
        migrations.AlterField(
            model_name="checkpoint",
            name="size",
            field=models.PositiveBigIntegerField(),
        ),
        migrations.AlterField(
            model_name="checkpointleaf",
            name="position",
            field=models.PositiveBigIntegerField(),
        ),
        migrations.AddIndex(
            model_name="checkpoint",
            index=models.Index(fields=["tenant", "kid", "number"], name="prescriptions_checkpoint_kid"),
        ),
        migrations.AddField(
            model_name="checkpointnode",
            name="tenant",
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="organizations.tenant"),
        ),
        migrations.AddConstraint(
            model_name="checkpointnode",
            constraint=models.UniqueConstraint(fields=("tenant", "level", "place"), name="prescriptions_node_once"),
        ),
    ]
