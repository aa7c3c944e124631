"""What values the attributes of products take, as the staff define them."""

from typing import ClassVar

import core.clock
import core.ids
import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [
        ('suppliers', '0004_offers_expire'),
    ]

    operations: ClassVar = [
        migrations.CreateModel(
            name='AttributeDefinition',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('code', models.CharField(max_length=64)),
                ('name', models.CharField(max_length=120)),
                ('type', models.CharField(choices=[('text', 'Text'), ('integer', 'Integer'), ('decimal', 'Decimal'), ('boolean', 'Boolean'), ('date', 'Date'), ('enum', 'Enum'), ('quantity', 'Quantity')], max_length=8)),
                ('unit', models.CharField(blank=True, default='', max_length=20)),
                ('allowed_values', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), blank=True, default=list, size=None)),
                ('required_for', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), blank=True, default=list, size=None)),
                ('localizable', models.BooleanField(default=False)),
                ('active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('code',), name='suppliers_attributedefinition_code_taken'), models.CheckConstraint(condition=models.Q(('type__in', ['text', 'integer', 'decimal', 'boolean', 'date', 'enum', 'quantity'])), name='suppliers_attributedefinition_type_known'), models.CheckConstraint(condition=models.Q(('type', 'enum'), ('allowed_values', []), _connector='XOR'), name='suppliers_attributedefinition_choices'), models.CheckConstraint(condition=models.Q(('localizable', False), ('type', 'text'), _connector='OR'), name='suppliers_attributedefinition_locale')],
            },
        ),
    ]
