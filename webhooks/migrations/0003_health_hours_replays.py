"""Adds an endpoint's health and hours, full bodies, replays, and what the dispatcher knows of each of these.

Safe: the new columns have defaults; the constraints look over two tables that hold at most a hundred short rows a tenant;
what is renamed, keyed or made required is made by this very migration.
"""

from importlib import import_module

import core.clock
import core.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

ranges = import_module("webhooks.migrations.0002_partitions")
BODIES = [
    "ALTER TABLE webhooks_event_body ADD CONSTRAINT webhooks_event_body_once"
    " UNIQUE (created_at, event_id, api_version, payload_mode)"
]


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0001_initial'),
        ('webhooks', '0002_partitions'),
    ]

    operations = [
        migrations.CreateModel(
            name='EndpointHealth',
            fields=[
                ('endpoint_id', models.UUIDField(primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('consecutive_failures', models.PositiveIntegerField(db_default=0)),
                ('failing_since', models.DateTimeField(null=True)),
                ('last_failure_at', models.DateTimeField(null=True)),
                ('warned_at', models.DateTimeField(null=True)),
                ('circuit_state', models.CharField(db_default='closed', max_length=9)),
                ('circuit_until', models.DateTimeField(null=True)),
                ('circuit_openings', models.PositiveSmallIntegerField(db_default=0)),
                ('paused_until', models.DateTimeField(null=True)),
            ],
            options={
                'verbose_name_plural': 'endpoint health',
                'db_table': 'webhooks_endpoint_health',
            },
        ),
        migrations.CreateModel(
            name='EndpointHour',
            fields=[
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('endpoint_id', models.UUIDField()),
                ('hour', models.DateTimeField()),
                ('attempts', models.PositiveIntegerField(db_default=0)),
                ('delivered', models.PositiveIntegerField(db_default=0)),
                ('failed', models.PositiveIntegerField(db_default=0)),
                ('duration_ms', models.BigIntegerField(db_default=0)),
                ('duration_buckets', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
            ],
            options={
                'db_table': 'webhooks_endpoint_hour',
            },
        ),
        migrations.CreateModel(
            name='EventBody',
            fields=[
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField()),
                ('tenant_id', models.UUIDField()),
                ('event_id', models.UUIDField()),
                ('api_version', models.CharField(max_length=10)),
                ('payload_mode', models.CharField(max_length=4)),
                ('body', models.BinaryField()),
            ],
            options={
                'verbose_name_plural': 'event bodies',
                'db_table': 'webhooks_event_body',
            },
        ),
        migrations.CreateModel(
            name='Replay',
            fields=[
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('since', models.DateTimeField()),
                ('until', models.DateTimeField()),
                ('types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=80), db_default=[], default=list, size=None)),
                ('only', models.CharField(max_length=7)),
                ('state', models.CharField(db_default='queued', default='queued', max_length=9)),
                ('requested_by', models.CharField(max_length=100)),
                ('cursor_at', models.DateTimeField(null=True)),
                ('cursor_id', models.UUIDField(null=True)),
                ('examined', models.PositiveIntegerField(db_default=0, default=0)),
                ('queued', models.PositiveIntegerField(db_default=0, default=0)),
                ('error', models.CharField(db_default='', default='', max_length=200)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='secret',
            name='webhooks_secret_kind_known',
        ),
        migrations.AddField(
            model_name='attempt',
            name='remote_ip',
            field=models.GenericIPAddressField(null=True),
        ),
        migrations.AddField(
            model_name='attempt',
            name='timings',
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.AddField(
            model_name='attempt',
            name='trigger',
            field=models.CharField(db_default='schedule', max_length=10),
        ),
        migrations.AddField(
            model_name='delivery',
            name='attempts_before',
            field=models.PositiveSmallIntegerField(db_default=0),
        ),
        migrations.AddField(
            model_name='delivery',
            name='last_error',
            field=models.CharField(db_default='', max_length=40),
        ),
        migrations.AddField(
            model_name='duedelivery',
            name='attempts_before',
            field=models.PositiveSmallIntegerField(db_default=0),
        ),
        migrations.AddField(
            model_name='duedelivery',
            name='resource_id',
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name='duedelivery',
            name='sequence',
            field=models.BigIntegerField(db_default=0),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='disabled_by',
            field=models.CharField(blank=True, db_default='', default='', max_length=100),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='max_inflight',
            field=models.PositiveSmallIntegerField(db_default=8, default=8),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='max_rps',
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='ordered',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='payload_mode',
            field=models.CharField(db_default='thin', default='thin', max_length=4),
        ),
        migrations.AddField(
            model_name='secret',
            name='last_used_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='secret',
            name='kind',
            field=models.CharField(choices=[('hmac', 'Hmac'), ('ed25519', 'Ed25519')], default='hmac', max_length=8),
        ),
        migrations.AddConstraint(
            model_name='endpoint',
            constraint=models.CheckConstraint(condition=models.Q(('payload_mode__in', ['thin', 'full'])), name='webhooks_endpoint_payload_mode_known'),
        ),
        migrations.AddConstraint(
            model_name='endpoint',
            constraint=models.CheckConstraint(condition=models.Q(('max_inflight__range', (1, 64))), name='webhooks_endpoint_inflight_bounded'),
        ),
        migrations.AddConstraint(
            model_name='endpoint',
            constraint=models.CheckConstraint(condition=models.Q(('max_rps__isnull', True), ('max_rps__range', (1, 1000)), _connector='OR'), name='webhooks_endpoint_rate_bounded'),
        ),
        migrations.AddConstraint(
            model_name='secret',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['hmac', 'ed25519'])), name='webhooks_secret_kind_known'),
        ),
        migrations.AddIndex(
            model_name='endpointhealth',
            index=models.Index(condition=models.Q(('failing_since__isnull', False)), fields=['failing_since'], name='webhooks_health_failing'),
        ),
        migrations.AddConstraint(
            model_name='endpointhealth',
            constraint=models.CheckConstraint(condition=models.Q(('circuit_state__in', ('closed', 'open', 'half_open'))), name='webhooks_health_circuit_known'),
        ),
        migrations.AddIndex(
            model_name='endpointhour',
            index=models.Index(fields=['tenant_id', 'hour'], name='webhooks_hour_by_tenant'),
        ),
        migrations.AddConstraint(
            model_name='endpointhour',
            constraint=models.UniqueConstraint(fields=('endpoint_id', 'hour'), name='webhooks_hour_once'),
        ),
        migrations.AddConstraint(
            model_name='eventbody',
            constraint=models.UniqueConstraint(fields=('created_at', 'event_id', 'api_version', 'payload_mode'), name='webhooks_event_body_once'),
        ),
        migrations.AddField(
            model_name='replay',
            name='endpoint',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='replays', to='webhooks.endpoint'),
        ),
        migrations.AddField(
            model_name='replay',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddIndex(
            model_name='replay',
            index=models.Index(fields=['endpoint', 'created_at', 'id'], name='webhooks_replay_by_endpoint'),
        ),
        migrations.AddIndex(
            model_name='replay',
            index=models.Index(condition=models.Q(('state__in', ['queued', 'running'])), fields=['created_at'], name='webhooks_replay_open'),
        ),
        migrations.AddConstraint(
            model_name='replay',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ('queued', 'running', 'completed', 'failed', 'cancelled'))), name='webhooks_replay_state_known'),
        ),
        migrations.AddConstraint(
            model_name='replay',
            constraint=models.CheckConstraint(condition=models.Q(('only__in', ('failed', 'missing', 'all'))), name='webhooks_replay_only_known'),
        ),
        migrations.AddConstraint(
            model_name='replay',
            constraint=models.CheckConstraint(condition=models.Q(('until__gt', models.F('since'))), name='webhooks_replay_has_length'),
        ),
        migrations.RunSQL(
            ranges.forwards("webhooks_event_body", BODIES), ranges.backwards("webhooks_event_body", BODIES)
        ),
    ]
