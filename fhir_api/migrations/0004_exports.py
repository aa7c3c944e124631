"""Makes the tables of bulk exports. Safe: they are new."""

import core.clock
import core.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('fhir_api', '0003_access_log'),
        ('organizations', '0002_notices'),
    ]

    operations = [
        migrations.CreateModel(
            name='ExportJob',
            fields=[
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('level', models.CharField(max_length=7)),
                ('state', models.CharField(db_default='queued', default='queued', max_length=9)),
                ('subject_id', models.UUIDField()),
                ('request_url', models.TextField()),
                ('transaction_time', models.DateTimeField()),
                ('since', models.DateTimeField(null=True)),
                ('types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=24), size=None)),
                ('ignored', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=80), db_default=[], default=list, size=None)),
                ('waits_for', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), null=True, size=None)),
                ('cursor_type', models.CharField(db_default='', default='', max_length=24)),
                ('cursor_id', models.CharField(db_collation='C', db_default='', default='', max_length=64)),
                ('examined', models.BigIntegerField(db_default=0, default=0)),
                ('exported', models.BigIntegerField(db_default=0, default=0)),
                ('error', models.CharField(db_default='', default='', max_length=200)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='ExportFile',
            fields=[
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('name', models.CharField(max_length=60)),
                ('kind', models.CharField(max_length=7)),
                ('type', models.CharField(max_length=24)),
                ('parts', models.PositiveIntegerField(db_default=0, default=0)),
                ('lines', models.PositiveIntegerField(db_default=0, default=0)),
                ('size', models.BigIntegerField(db_default=0, default=0)),
                ('checksum', models.BigIntegerField(db_default=0, default=0)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
                ('job', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='files', to='fhir_api.exportjob')),
            ],
        ),
        migrations.CreateModel(
            name='ExportPart',
            fields=[
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('number', models.PositiveIntegerField()),
                ('content', models.BinaryField()),
                ('patients', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), db_default=[], default=list, size=None)),
                ('file', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='fhir_api.exportfile')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.AddIndex(
            model_name='exportjob',
            index=models.Index(fields=['tenant', 'created_at', 'id'], name='fhir_api_export_by_time'),
        ),
        migrations.AddIndex(
            model_name='exportjob',
            index=models.Index(condition=models.Q(('state__in', ('queued', 'running'))), fields=['created_at', 'id'], name='fhir_api_export_open'),
        ),
        migrations.AddConstraint(
            model_name='exportjob',
            constraint=models.CheckConstraint(condition=models.Q(('level__in', ('system', 'patient'))), name='fhir_api_export_level_known'),
        ),
        migrations.AddConstraint(
            model_name='exportjob',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ('queued', 'running', 'completed', 'failed', 'cancelled', 'expired'))), name='fhir_api_export_state_known'),
        ),
        migrations.AddConstraint(
            model_name='exportjob',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'completed'), _negated=True), ('expires_at__isnull', False), _connector='OR'), name='fhir_api_export_expires'),
        ),
        migrations.AddConstraint(
            model_name='exportfile',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('output', 'deleted', 'error'))), name='fhir_api_export_file_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='exportfile',
            constraint=models.UniqueConstraint(fields=('tenant', 'job', 'name'), name='fhir_api_export_file_one'),
        ),
        migrations.AddConstraint(
            model_name='exportpart',
            constraint=models.UniqueConstraint(fields=('tenant', 'file', 'number'), name='fhir_api_export_part_one'),
        ),
    ]
