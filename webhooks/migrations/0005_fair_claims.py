"""Lets a claim find each endpoint's due work by itself, first tries apart from retries.

Safe: the live queue holds unfinished work only; rewriting and indexing it takes as long as one slow POST may, and the
dispatcher waits for it. The new columns of the health table have no default but NULL.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('webhooks', '0004_public_keys_one_replay'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='duedelivery',
            name='webhooks_due_by_time',
        ),
        migrations.RemoveIndex(
            model_name='duedelivery',
            name='webhooks_due_by_endpoint',
        ),
        migrations.AddField(
            model_name='duedelivery',
            name='retrying',
            field=models.GeneratedField(db_persist=True, expression=models.ExpressionWrapper(models.Q(('attempts__gt', models.F('attempts_before'))), models.BooleanField()), output_field=models.BooleanField()),
        ),
        migrations.AddField(
            model_name='duedelivery',
            name='trigger',
            field=models.CharField(db_default='schedule', max_length=10),
        ),
        migrations.AddField(
            model_name='endpointhealth',
            name='gone_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='endpointhealth',
            name='next_send_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name='duedelivery',
            index=models.Index(fields=['retrying', 'due_at'], name='webhooks_due_by_time'),
        ),
        migrations.AddIndex(
            model_name='duedelivery',
            index=models.Index(fields=['endpoint_id', 'retrying', 'due_at'], name='webhooks_due_by_endpoint'),
        ),
        migrations.AddIndex(
            model_name='duedelivery',
            index=models.Index(condition=models.Q(('lease__isnull', False)), fields=['endpoint_id'], name='webhooks_due_leased'),
        ),
        migrations.AddIndex(
            model_name='duedelivery',
            index=models.Index(condition=models.Q(('resource_id__isnull', False)), fields=['endpoint_id', 'resource_id', 'sequence'], name='webhooks_due_in_order'),
        ),
        migrations.RunSQL(
            "ALTER TABLE webhooks_endpoint_hour SET (fillfactor = 70)",
            "ALTER TABLE webhooks_endpoint_hour RESET (fillfactor)",
        ),
    ]
