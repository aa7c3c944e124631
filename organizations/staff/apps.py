"""Django's admin with the staff's own site in place of the stock one."""

from django.contrib.admin.apps import AdminConfig


class StaffAdminConfig(AdminConfig):
    """Named in INSTALLED_APPS instead of `django.contrib.admin`."""

    default = False
    default_site = "organizations.staff.site.StaffSite"
