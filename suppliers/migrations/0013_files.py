"""Files, what they are bound to, and the objects that no file holds."""

import core.clock
import core.ids
import django.db.models.deletion
import django.db.models.functions.datetime
import django_fsm
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('organizations', '0010_failures_by_network'),
        ('suppliers', "0012_lots_expiring_and_gtins"),
    ]

    operations = [
        migrations.CreateModel(
            name='File',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('name', models.CharField(max_length=255)),
                ('purpose', models.CharField(choices=[('product_image', 'Product Image'), ('product_document', 'Product Document'), ('certificate', 'Certificate'), ('safety_sheet', 'Safety Sheet'), ('invoice', 'Invoice'), ('delivery_document', 'Delivery Document'), ('temperature_log', 'Temperature Log'), ('report', 'Report'), ('message', 'Message')], max_length=20)),
                ('status', django_fsm.FSMField(choices=[('awaiting_upload', 'Awaiting Upload'), ('scanning', 'Scanning'), ('ready', 'Ready'), ('rejected', 'Rejected')], default='awaiting_upload', max_length=15, protected=True)),
                ('content_type', models.CharField(max_length=80)),
                ('size', models.BigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('object_key', models.CharField(blank=True, default='', max_length=160)),
                ('visibility', models.CharField(choices=[('private', 'Private'), ('counterparty', 'Counterparty'), ('catalog', 'Catalog')], default='private', max_length=12)),
                ('title', models.CharField(blank=True, default='', max_length=255)),
                ('expires_on', models.DateField(null=True)),
                ('rejection_reason', models.CharField(blank=True, choices=[('upload_expired', 'Upload Expired'), ('wrong_size', 'Wrong Size'), ('wrong_content', 'Wrong Content'), ('unsupported_type', 'Unsupported Type'), ('malware', 'Malware'), ('staff', 'Staff')], default='', max_length=16)),
                ('scanned_by', models.CharField(blank=True, default='', max_length=20)),
                ('finding', models.CharField(blank=True, default='', max_length=200)),
                ('upload_expires_at', models.DateTimeField(null=True)),
                ('check_at', models.DateTimeField(null=True)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
            bases=(django_fsm.ConcurrentTransitionMixin, models.Model),
        ),
        migrations.CreateModel(
            name='FileBinding',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('resource_type', models.CharField(choices=[('product', 'Product'), ('offer', 'Offer'), ('order', 'Order'), ('delivery', 'Delivery'), ('invoice', 'Invoice'), ('return', 'Return'), ('supplier', 'Supplier'), ('message', 'Message')], max_length=8)),
                ('resource_id', models.UUIDField()),
                ('role', models.CharField(blank=True, default='', max_length=32)),
                ('position', models.PositiveIntegerField(default=0)),
                ('language', models.CharField(blank=True, default='', max_length=35)),
                ('file', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='suppliers.file')),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.CreateModel(
            name='LooseObject',
            fields=[
                ('updated_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now)),
                ('version', models.PositiveIntegerField(db_default=1, default=1)),
                ('id', models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=core.clock.now, editable=False)),
                ('object_key', models.CharField(max_length=160)),
                ('reserved_bytes', models.BigIntegerField(default=0)),
                ('due_at', models.DateTimeField()),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='organizations.tenant')),
            ],
        ),
        migrations.AddIndex(
            model_name='file',
            index=models.Index(fields=['tenant', 'created_at', 'id'], name='suppliers_file_by_created'),
        ),
        migrations.AddIndex(
            model_name='file',
            index=models.Index(fields=['tenant', 'updated_at', 'id'], name='suppliers_file_by_updated'),
        ),
        migrations.AddIndex(
            model_name='file',
            index=models.Index(fields=['tenant', 'name', 'id'], name='suppliers_file_by_name'),
        ),
        migrations.AddIndex(
            model_name='file',
            index=models.Index(fields=['tenant', 'purpose', 'created_at', 'id'], name='suppliers_file_by_purpose'),
        ),
        migrations.AddIndex(
            model_name='file',
            index=models.Index(condition=models.Q(('status__in', ('awaiting_upload', 'scanning'))), fields=['check_at', 'tenant'], name='suppliers_file_due'),
        ),
        migrations.AddConstraint(
            model_name='file',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'rejected'), _negated=True), fields=('tenant', 'sha256', 'purpose'), name='suppliers_file_content_once'),
        ),
        migrations.AddConstraint(
            model_name='file',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['awaiting_upload', 'scanning', 'ready', 'rejected'])), name='suppliers_file_status_known'),
        ),
        migrations.AddConstraint(
            model_name='file',
            constraint=models.CheckConstraint(condition=models.Q(('purpose__in', ['product_image', 'product_document', 'certificate', 'safety_sheet', 'invoice', 'delivery_document', 'temperature_log', 'report', 'message'])), name='suppliers_file_purpose_known'),
        ),
        migrations.AddConstraint(
            model_name='file',
            constraint=models.CheckConstraint(condition=models.Q(('visibility__in', ['private', 'counterparty', 'catalog'])), name='suppliers_file_seen_by_known'),
        ),
        migrations.AddConstraint(
            model_name='file',
            constraint=models.CheckConstraint(condition=models.Q(('size__range', (1, 20971520))), name='suppliers_file_size'),
        ),
        migrations.AddConstraint(
            model_name='file',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['awaiting_upload', 'rejected']), models.Q(('object_key', ''), _negated=True), _connector='OR'), name='suppliers_file_has_object'),
        ),
        migrations.AddConstraint(
            model_name='file',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status__in', ('awaiting_upload', 'scanning')), _negated=True), ('check_at__isnull', False), _connector='OR'), name='suppliers_file_open_is_due'),
        ),
        migrations.AddIndex(
            model_name='filebinding',
            index=models.Index(fields=['tenant', 'resource_id', 'resource_type', 'position'], name='suppliers_file_bound_to'),
        ),
        migrations.AddConstraint(
            model_name='filebinding',
            constraint=models.UniqueConstraint(fields=('tenant', 'file', 'resource_type', 'resource_id', 'role'), name='suppliers_file_bound_once'),
        ),
        migrations.AddConstraint(
            model_name='filebinding',
            constraint=models.CheckConstraint(condition=models.Q(('resource_type__in', ['product', 'offer', 'order', 'delivery', 'invoice', 'return', 'supplier', 'message'])), name='suppliers_file_bound_to_known'),
        ),
        migrations.AddIndex(
            model_name='looseobject',
            index=models.Index(fields=['due_at', 'tenant'], name='suppliers_loose_object_due'),
        ),
        migrations.AddConstraint(
            model_name='looseobject',
            constraint=models.UniqueConstraint(fields=('tenant', 'object_key'), name='suppliers_loose_object_once'),
        ),
    ]
