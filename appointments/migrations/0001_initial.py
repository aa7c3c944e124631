"""Makes appointments and schedules.

Safe: the tables are new.
"""

import core.clock
import core.ids
import datetime
import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django.db.models.lookups
import django_fsm
from django.db import migrations, models


class Migration(migrations.Migration):
    """Two tables."""

    initial = True

    dependencies = [
        ('organizations', '0006_location_time_zone'),
    ]

    operations = [
        migrations.CreateModel(
            name='Appointment',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('patient_id', models.CharField(db_collation='C', max_length=64)),
                ('practitioner_id', models.CharField(db_collation='C', max_length=64)),
                ('status', django_fsm.FSMField(choices=[('proposed', 'Proposed'), ('booked', 'Booked'), ('confirmed', 'Confirmed'), ('checked_in', 'Checked In'), ('in_progress', 'In Progress'), ('completed', 'Completed'), ('no_show', 'No Show'), ('cancelled', 'Cancelled')], default='booked', max_length=12, protected=True)),
                ('starts_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField()),
                ('time_zone', models.CharField(max_length=64)),
                ('service_type', models.CharField(blank=True, default='', max_length=80)),
                ('reason', models.CharField(blank=True, default='', max_length=500)),
                ('mode', models.CharField(choices=[('in_person', 'In Person'), ('video', 'Video'), ('phone', 'Phone')], default='in_person', max_length=10)),
                ('outside_hours', models.BooleanField(default=False)),
                ('recurrence', models.JSONField(null=True)),
                ('series_id', models.UUIDField(null=True)),
                ('reminders', models.JSONField(default=list)),
                ('next_reminder_at', models.DateTimeField(null=True)),
                ('cancel_reason_code', models.CharField(blank=True, choices=[('patient_request', 'Patient Request'), ('provider_request', 'Provider Request'), ('rescheduled', 'Rescheduled'), ('entered_in_error', 'Entered In Error'), ('unspecified', 'Unspecified'), ('other', 'Other')], default='', max_length=20)),
                ('warnings', models.JSONField(default=list)),
                ('created_by', models.UUIDField(null=True)),
                ('location', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.location')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'created_at', 'id'], name='appointments_by_created'), models.Index(fields=['tenant', 'updated_at', 'id'], name='appointments_by_updated'), models.Index(fields=['tenant', 'starts_at', 'id'], name='appointments_by_start'), models.Index(fields=['tenant', 'practitioner_id', 'starts_at'], name='appointments_by_pract'), models.Index(fields=['tenant', 'patient_id', 'starts_at'], name='appointments_by_patient'), models.Index(fields=['tenant', 'location', 'starts_at'], name='appointments_by_location'), models.Index(condition=models.Q(('series_id__isnull', False)), fields=['tenant', 'series_id', 'starts_at'], name='appointments_by_series'), models.Index(condition=models.Q(('next_reminder_at__isnull', False)), fields=['next_reminder_at', 'id'], name='appointments_reminder_due')],
                'constraints': [django.contrib.postgres.constraints.ExclusionConstraint(condition=models.Q(('status__in', ['booked', 'confirmed', 'checked_in', 'in_progress'])), expressions=[(models.Func(models.Func(models.F('tenant'), models.F('practitioner_id'), arg_joiner='::text || ', output_field=models.BigIntegerField(), template='hashtextextended((%(expressions)s) COLLATE "C", 0)'), models.Func(models.F('tenant'), models.F('practitioner_id'), arg_joiner='::text || ', output_field=models.BigIntegerField(), template='hashtextextended((%(expressions)s) COLLATE "C", 0)'), models.Value('[]'), function='int8range', output_field=models.TextField()), '&&'), (models.Func('starts_at', 'ends_at', function='tstzrange', output_field=models.TextField()), '&&')], name='appointments_no_double'), models.CheckConstraint(condition=models.Q(('status__in', ['proposed', 'booked', 'confirmed', 'checked_in', 'in_progress', 'completed', 'no_show', 'cancelled'])), name='appointments_status_known'), models.CheckConstraint(condition=models.Q(('mode__in', ['in_person', 'video', 'phone'])), name='appointments_mode_known'), models.CheckConstraint(condition=models.Q(django.db.models.lookups.GreaterThanOrEqual(models.ExpressionWrapper(django.db.models.expressions.CombinedExpression(models.F('ends_at'), '-', models.F('starts_at')), output_field=models.DurationField()), datetime.timedelta(seconds=300)), django.db.models.lookups.LessThanOrEqual(models.ExpressionWrapper(django.db.models.expressions.CombinedExpression(models.F('ends_at'), '-', models.F('starts_at')), output_field=models.DurationField()), datetime.timedelta(days=1))), name='appointments_length'), models.CheckConstraint(condition=models.Q(('next_reminder_at__isnull', True), ('status__in', ['booked', 'confirmed']), _connector='OR'), name='appointments_reminded_while_due'), models.CheckConstraint(condition=models.Q(models.Q(('cancel_reason_code', ''), ('status__in', ['proposed', 'booked', 'confirmed', 'checked_in', 'in_progress', 'completed', 'no_show'])), models.Q(models.Q(('cancel_reason_code', ''), _negated=True), ('status', 'cancelled')), _connector='OR'), name='appointments_cancelled_with_reason')],
            },
            bases=(django_fsm.ConcurrentTransitionMixin, models.Model),
        ),
        migrations.CreateModel(
            name='Schedule',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('practitioner_id', models.CharField(db_collation='C', max_length=64)),
                ('hours', models.JSONField(default=list)),
                ('absences', models.JSONField(default=list)),
                ('location_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'practitioner_id'), name='appointments_schedule_one')],
            },
        ),
    ]
