"""Configuration of Django's admin with the staff's own site."""

from django.contrib.admin.apps import AdminConfig


class StaffAdminConfig(AdminConfig):
    """Listed in INSTALLED_APPS instead of `django.contrib.admin`."""

    default = False
    default_site = "organizations.staff.site.StaffSite"
