"""Choices and help texts of columns that stay as they are: nothing changes in the database."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('webhooks', '0009_partitions_without_tenants'),
    ]

    operations = [
        migrations.AlterField(
            model_name='attempt',
            name='trigger',
            field=models.CharField(choices=[('schedule', 'schedule'), ('probe', 'probe'), ('manual', 'manual')], db_default='schedule', max_length=10),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='state',
            field=models.CharField(choices=[('created', 'created'), ('pending', 'pending'), ('retrying', 'retrying'), ('delivered', 'delivered'), ('failed', 'failed')], db_default='pending', max_length=10),
        ),
        migrations.AlterField(
            model_name='endpoint',
            name='active',
            field=models.BooleanField(db_default=True, default=True, help_text='False stops delivery and keeps the rest.'),
        ),
        migrations.AlterField(
            model_name='endpoint',
            name='api_version',
            field=models.CharField(db_default='2026-01-01', default='2026-01-01', help_text="The envelope's version, set at creation.", max_length=10),
        ),
        migrations.AlterField(
            model_name='endpoint',
            name='disabled_by',
            field=models.CharField(blank=True, db_default='', default='', help_text='Who disabled it: `key:<id>`, `user:<id>`, `service:<id>` or `platform`.', max_length=100),
        ),
        migrations.AlterField(
            model_name='endpoint',
            name='disabled_reason',
            field=models.CharField(blank=True, db_default='', default='', help_text='Why it is not active: by_user, gone (the receiver answered 410), failing (72 hours of failures), …; empty while active.', max_length=40),
        ),
        migrations.AlterField(
            model_name='endpoint',
            name='events',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=80), help_text='Exact types, families (`product.*`) or `*`.', size=None),
        ),
        migrations.AlterField(
            model_name='endpoint',
            name='max_inflight',
            field=models.PositiveSmallIntegerField(db_default=8, default=8, help_text='Most messages sent at once.'),
        ),
        migrations.AlterField(
            model_name='endpoint',
            name='max_rps',
            field=models.PositiveSmallIntegerField(blank=True, help_text='Most messages a second; null: any.', null=True),
        ),
        migrations.AlterField(
            model_name='endpoint',
            name='ordered',
            field=models.BooleanField(db_default=False, default=False, help_text='One message of a resource at a time, in the order of its events.'),
        ),
        migrations.AlterField(
            model_name='endpoint',
            name='payload_mode',
            field=models.CharField(choices=[('thin', 'thin'), ('full', 'full')], db_default='thin', default='thin', help_text='`thin` names the resource; `full` carries its representation as of the event, up to 64 KiB.', max_length=4),
        ),
        migrations.AlterField(
            model_name='endpoint',
            name='url',
            field=models.CharField(help_text='Where events are sent; https, public.', max_length=2048),
        ),
        migrations.AlterField(
            model_name='endpointhealth',
            name='circuit_state',
            field=models.CharField(choices=[('closed', 'closed'), ('open', 'open'), ('half_open', 'half_open')], db_default='closed', help_text='`closed` lets messages through; `open` holds them back; `half_open` sends one to see.', max_length=9),
        ),
        migrations.AlterField(
            model_name='endpointhealth',
            name='circuit_until',
            field=models.DateTimeField(help_text='When it is tried again.', null=True),
        ),
        migrations.AlterField(
            model_name='endpointhealth',
            name='failing_since',
            field=models.DateTimeField(help_text='Since when it fails; null unless it fails now.', null=True),
        ),
        migrations.AlterField(
            model_name='endpointhealth',
            name='paused_until',
            field=models.DateTimeField(help_text="Until when the receiver's own Retry-After asks to wait.", null=True),
        ),
        migrations.AlterField(
            model_name='replay',
            name='only',
            field=models.CharField(choices=[('failed', 'failed'), ('missing', 'missing'), ('all', 'all')], max_length=7),
        ),
        migrations.AlterField(
            model_name='replay',
            name='state',
            field=models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('completed', 'completed'), ('failed', 'failed'), ('cancelled', 'cancelled')], db_default='queued', default='queued', max_length=9),
        ),
    ]
