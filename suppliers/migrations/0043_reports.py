"""Reports and the rows that they have read; files that the platform writes may be larger.

Safe: new tables, and a check of files that is wider than the one before; the table of files is small.
"""

import core.clock
import core.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django_fsm
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0011_managed_tenants'),
        ('suppliers', '0042_analytics'),
    ]

    operations = [
        migrations.CreateModel(
            name='Report',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('type', models.CharField(choices=[('orders', 'Orders'), ('stock', 'Stock'), ('movements', 'Movements'), ('prices', 'Prices'), ('recall_trace', 'Recall Trace')], max_length=12)),
                ('parameters', models.JSONField(default=dict)),
                ('format', models.CharField(choices=[('csv', 'Csv'), ('xlsx', 'Xlsx'), ('json', 'Json')], max_length=4)),
                ('status', django_fsm.FSMField(choices=[('queued', 'Queued'), ('running', 'Running'), ('ready', 'Ready'), ('failed', 'Failed'), ('expired', 'Expired')], default='queued', max_length=7, protected=True)),
                ('as_of', models.DateTimeField()),
                ('begins_at', models.DateTimeField(null=True)),
                ('ends_at', models.DateTimeField(null=True)),
                ('started_by', models.UUIDField()),
                ('location_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), db_default=[], default=list, size=None)),
                ('cursor', models.CharField(blank=True, db_collation='C', db_default='', default='', max_length=100)),
                ('rows_done', models.BigIntegerField(db_default=0, default=0)),
                ('rows_total', models.BigIntegerField(null=True)),
                ('parts', models.IntegerField(db_default=0, default=0)),
                ('file_id', models.UUIDField(null=True)),
                ('error', models.CharField(blank=True, db_default='', default='', max_length=40)),
                ('claimed_until', models.DateTimeField(null=True)),
                ('troubled_at', models.DateTimeField(null=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('read_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('expires_at', models.DateTimeField(null=True)),
            ],
            bases=(django_fsm.ConcurrentTransitionMixin, models.Model),
        ),
        migrations.CreateModel(
            name='ReportPart',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('number', models.IntegerField()),
                ('content', models.TextField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='file',
            name='suppliers_file_size',
        ),
        migrations.AddConstraint(
            model_name='file',
            constraint=models.CheckConstraint(condition=models.Q(('size__range', (1, 20971520)), models.Q(('purpose', 'report'), ('size__range', (1, 1073741824))), _connector='OR'), name='suppliers_file_size'),
        ),
        migrations.AddField(
            model_name='report',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddField(
            model_name='reportpart',
            name='report',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='suppliers.report'),
        ),
        migrations.AddField(
            model_name='reportpart',
            name='tenant',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_report_by_created'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_report_by_updated'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(condition=models.Q(('status__in', ('queued', 'running'))), fields=['created_at', 'tenant'], name='suppliers_report_open'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(condition=models.Q(('expires_at__isnull', False)), fields=['expires_at', 'tenant'], name='suppliers_report_ending'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(condition=models.Q(('file_id__isnull', False)), fields=['tenant', 'file_id'], name='suppliers_report_by_file'),
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.CheckConstraint(condition=models.Q(('type__in', ['orders', 'stock', 'movements', 'prices', 'recall_trace'])), name='suppliers_report_type_known'),
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.CheckConstraint(condition=models.Q(('format__in', ['csv', 'xlsx', 'json'])), name='suppliers_report_format_known'),
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['queued', 'running', 'ready', 'failed', 'expired'])), name='suppliers_report_status_known'),
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.CheckConstraint(condition=models.Q(('parts__gte', 0), ('rows_done__gte', 0), models.Q(('rows_total__isnull', True), ('rows_total__gte', models.F('rows_done')), _connector='OR')), name='suppliers_report_progress'),
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('expires_at__isnull', False), ('file_id__isnull', False), ('status', 'ready')), models.Q(models.Q(('status', 'ready'), _negated=True), ('file_id__isnull', True)), _connector='OR'), name='suppliers_report_ready'),
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.CheckConstraint(condition=models.Q(('status', 'failed'), ('error', ''), _connector='XOR'), name='suppliers_report_failed'),
        ),
        migrations.AddConstraint(
            model_name='reportpart',
            constraint=models.UniqueConstraint(fields=('tenant', 'report', 'number'), name='suppliers_reportpart_once'),
        ),
    ]
