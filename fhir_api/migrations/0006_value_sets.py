"""Makes the table of value sets that tenants bring. Safe: it is new."""


import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('fhir_api', '0005_deleted_ones'),
        ('organizations', '0003_one_patient'),
    ]

    operations = [
        migrations.CreateModel(
            name='ValueSet',
            fields=[
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('url', models.CharField(db_collation='C', max_length=500)),
                ('set_version', models.CharField(db_collation='C', db_default='', default='', max_length=100)),
                ('title', models.CharField(db_default='', default='', max_length=200)),
                ('codes', models.TextField()),
                ('count', models.PositiveIntegerField()),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'url', 'set_version'), name='fhir_api_value_set_one'), models.CheckConstraint(condition=models.Q(('count__range', (1, 5000))), name='fhir_api_value_set_bounded')],
            },
        ),
    ]
