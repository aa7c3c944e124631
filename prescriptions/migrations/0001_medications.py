"""The tables of medications."""

import core.clock
import core.ids
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('organizations', '0005_client_keys'),
    ]

    operations = [
        migrations.CreateModel(
            name='IncomingRow',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('load_id', models.UUIDField()),
                ('content', models.JSONField()),
                ('words', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=80), default=list, size=None)),
            ],
        ),
        migrations.CreateModel(
            name='PlatformAllergyTerm',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('demonstration', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('system', models.CharField(max_length=255)),
                ('code', models.CharField(max_length=100)),
                ('display', models.CharField(blank=True, default='', max_length=1000)),
                ('kind', models.CharField(max_length=10)),
                ('value', models.CharField(max_length=200)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('system', 'code', 'kind', 'value'), name='prescriptions_platallergy_taken'), models.CheckConstraint(condition=models.Q(('kind__in', ('ingredient', 'class'))), name='prescriptions_platallergy_kind')],
            },
        ),
        migrations.CreateModel(
            name='PlatformDose',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('demonstration', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('ingredient', models.CharField(max_length=200)),
                ('route', models.CharField(blank=True, default='', max_length=100)),
                ('age_from', models.DecimalField(decimal_places=3, max_digits=15, null=True)),
                ('age_to', models.DecimalField(decimal_places=3, max_digits=15, null=True)),
                ('weight_from', models.DecimalField(decimal_places=3, max_digits=15, null=True)),
                ('weight_to', models.DecimalField(decimal_places=3, max_digits=15, null=True)),
                ('single_max', models.DecimalField(decimal_places=6, max_digits=15, null=True)),
                ('daily_max', models.DecimalField(decimal_places=6, max_digits=15, null=True)),
                ('unit', models.CharField(max_length=60)),
                ('per_kg', models.BooleanField(default=False)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('ingredient', 'route', 'age_from', 'age_to', 'weight_from', 'weight_to', 'per_kg'), name='prescriptions_platdose_band_taken', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('age_from__isnull', True), ('age_to__isnull', True), ('age_from__lt', models.F('age_to')), _connector='OR'), name='prescriptions_platdose_ages'), models.CheckConstraint(condition=models.Q(('weight_from__isnull', True), ('weight_to__isnull', True), ('weight_from__lt', models.F('weight_to')), _connector='OR'), name='prescriptions_platdose_weights'), models.CheckConstraint(condition=models.Q(('single_max__gt', 0), ('daily_max__gt', 0), _connector='OR'), name='prescriptions_platdose_has_maximum')],
            },
        ),
        migrations.CreateModel(
            name='PlatformInteraction',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('demonstration', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('a', models.CharField(db_collation='C', max_length=200)),
                ('b', models.CharField(db_collation='C', max_length=200)),
                ('severity', models.CharField(max_length=15)),
                ('text', models.CharField(blank=True, default='', max_length=2000)),
                ('source', models.CharField(blank=True, default='', max_length=500)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('a', 'b'), name='prescriptions_platinter_pair_taken'), models.CheckConstraint(condition=models.Q(('a__lte', models.F('b'))), name='prescriptions_platinter_in_order'), models.CheckConstraint(condition=models.Q(('severity__in', ('contraindicated', 'high', 'moderate', 'low'))), name='prescriptions_platinter_severity')],
            },
        ),
        migrations.CreateModel(
            name='PlatformMedication',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('demonstration', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('system', models.CharField(max_length=255)),
                ('code', models.CharField(max_length=100)),
                ('display', models.CharField(max_length=3000)),
                ('display_sort', models.GeneratedField(db_persist=True, expression=django.db.models.functions.text.Left(django.db.models.functions.text.Lower('display'), 200), output_field=models.TextField())),
                ('ingredients', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), default=list, size=None)),
                ('classes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), default=list, size=None)),
                ('form', models.CharField(blank=True, default='', max_length=120)),
                ('strength', models.CharField(blank=True, default='', max_length=200)),
                ('unit', models.CharField(blank=True, default='', max_length=60)),
                ('schedule', models.CharField(default='none', max_length=4)),
            ],
            options={
                'indexes': [models.Index(fields=['display_sort', 'id'], name='rx_platmed_display'), models.Index(fields=['code', 'id'], name='rx_platmed_code'), models.Index(fields=['created_at', 'id'], name='rx_platmed_created'), models.Index(fields=['updated_at', 'id'], name='rx_platmed_updated'), models.Index(condition=models.Q(('schedule', 'none'), _negated=True), fields=['schedule', 'display_sort', 'id'], name='rx_platmed_scheduled')],
                'constraints': [models.UniqueConstraint(fields=('system', 'code'), name='prescriptions_platmed_code_taken'), models.CheckConstraint(condition=models.Q(('schedule__in', ('I', 'II', 'III', 'IV', 'V', 'none'))), name='prescriptions_platmed_schedule')],
            },
        ),
        migrations.CreateModel(
            name='PlatformMedicationWord',
            fields=[
                ('pk', models.CompositePrimaryKey('word', 'medication_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('word', models.CharField(db_collation='C', max_length=80)),
                ('medication_id', models.UUIDField()),
            ],
            options={
                'indexes': [models.Index(fields=['medication_id'], name='rx_platmedword_of')],
            },
        ),
        migrations.CreateModel(
            name='PlatformTableVersion',
            fields=[
                ('table', models.CharField(max_length=20)),
                ('number', models.PositiveIntegerField()),
                ('digest', models.CharField(max_length=64)),
                ('rows', models.PositiveIntegerField()),
                ('added', models.PositiveIntegerField()),
                ('changed', models.PositiveIntegerField()),
                ('removed', models.PositiveIntegerField()),
                ('source', models.CharField(max_length=200)),
                ('loaded_at', models.DateTimeField()),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('demonstration', models.BooleanField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('table', 'number'), name='prescriptions_platversion_taken')],
            },
        ),
        migrations.CreateModel(
            name='TenantMedicationWord',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'word', 'medication_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.UUIDField()),
                ('word', models.CharField(db_collation='C', max_length=80)),
                ('medication_id', models.UUIDField()),
            ],
            options={
                'indexes': [models.Index(fields=['tenant_id', 'medication_id'], name='rx_medword_of')],
            },
        ),
        migrations.CreateModel(
            name='TenantAllergyTerm',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('system', models.CharField(max_length=255)),
                ('code', models.CharField(max_length=100)),
                ('display', models.CharField(blank=True, default='', max_length=1000)),
                ('kind', models.CharField(max_length=10)),
                ('value', models.CharField(max_length=200)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'system', 'code', 'kind', 'value'), name='prescriptions_allergy_taken'), models.CheckConstraint(condition=models.Q(('kind__in', ('ingredient', 'class'))), name='prescriptions_allergy_kind')],
            },
        ),
        migrations.CreateModel(
            name='TenantDose',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('ingredient', models.CharField(max_length=200)),
                ('route', models.CharField(blank=True, default='', max_length=100)),
                ('age_from', models.DecimalField(decimal_places=3, max_digits=15, null=True)),
                ('age_to', models.DecimalField(decimal_places=3, max_digits=15, null=True)),
                ('weight_from', models.DecimalField(decimal_places=3, max_digits=15, null=True)),
                ('weight_to', models.DecimalField(decimal_places=3, max_digits=15, null=True)),
                ('single_max', models.DecimalField(decimal_places=6, max_digits=15, null=True)),
                ('daily_max', models.DecimalField(decimal_places=6, max_digits=15, null=True)),
                ('unit', models.CharField(max_length=60)),
                ('per_kg', models.BooleanField(default=False)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'ingredient', 'route', 'age_from', 'age_to', 'weight_from', 'weight_to', 'per_kg'), name='prescriptions_dose_band_taken', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('age_from__isnull', True), ('age_to__isnull', True), ('age_from__lt', models.F('age_to')), _connector='OR'), name='prescriptions_dose_ages'), models.CheckConstraint(condition=models.Q(('weight_from__isnull', True), ('weight_to__isnull', True), ('weight_from__lt', models.F('weight_to')), _connector='OR'), name='prescriptions_dose_weights'), models.CheckConstraint(condition=models.Q(('single_max__gt', 0), ('daily_max__gt', 0), _connector='OR'), name='prescriptions_dose_has_maximum')],
            },
        ),
        migrations.CreateModel(
            name='TenantInteraction',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('a', models.CharField(db_collation='C', max_length=200)),
                ('b', models.CharField(db_collation='C', max_length=200)),
                ('severity', models.CharField(max_length=15)),
                ('text', models.CharField(blank=True, default='', max_length=2000)),
                ('source', models.CharField(blank=True, default='', max_length=500)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'a', 'b'), name='prescriptions_interaction_pair_taken'), models.CheckConstraint(condition=models.Q(('a__lte', models.F('b'))), name='prescriptions_interaction_in_order'), models.CheckConstraint(condition=models.Q(('severity__in', ('contraindicated', 'high', 'moderate', 'low'))), name='prescriptions_interaction_severity')],
            },
        ),
        migrations.CreateModel(
            name='TenantMedication',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('system', models.CharField(max_length=255)),
                ('code', models.CharField(max_length=100)),
                ('display', models.CharField(max_length=3000)),
                ('display_sort', models.GeneratedField(db_persist=True, expression=django.db.models.functions.text.Left(django.db.models.functions.text.Lower('display'), 200), output_field=models.TextField())),
                ('ingredients', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), default=list, size=None)),
                ('classes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), default=list, size=None)),
                ('form', models.CharField(blank=True, default='', max_length=120)),
                ('strength', models.CharField(blank=True, default='', max_length=200)),
                ('unit', models.CharField(blank=True, default='', max_length=60)),
                ('schedule', models.CharField(default='none', max_length=4)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'display_sort', 'id'], name='rx_med_display'), models.Index(fields=['tenant', 'code', 'id'], name='rx_med_code'), models.Index(fields=['tenant', 'created_at', 'id'], name='rx_med_created'), models.Index(fields=['tenant', 'updated_at', 'id'], name='rx_med_updated'), models.Index(condition=models.Q(('schedule', 'none'), _negated=True), fields=['tenant', 'schedule', 'display_sort', 'id'], name='rx_med_scheduled')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'system', 'code'), name='prescriptions_medication_code_taken'), models.CheckConstraint(condition=models.Q(('schedule__in', ('I', 'II', 'III', 'IV', 'V', 'none'))), name='prescriptions_medication_schedule')],
            },
        ),
        migrations.CreateModel(
            name='TenantTableVersion',
            fields=[
                ('table', models.CharField(max_length=20)),
                ('number', models.PositiveIntegerField()),
                ('digest', models.CharField(max_length=64)),
                ('rows', models.PositiveIntegerField()),
                ('added', models.PositiveIntegerField()),
                ('changed', models.PositiveIntegerField()),
                ('removed', models.PositiveIntegerField()),
                ('source', models.CharField(max_length=200)),
                ('loaded_at', models.DateTimeField()),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'table', 'number'), name='prescriptions_tabversion_taken')],
            },
        ),
    ]
