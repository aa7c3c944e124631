"""The navigation and the overview page of the admin, composed from the pages and figures of all apps."""

from functools import cache
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from core.clock import now
from ledger.public import backlog
from organizations.staff import figures
from organizations.staff.roles import Area, sees
from prescriptions.public import unguarded_tenants
from webhooks.public import latest_attempts

# The title of each group and its pages: area, icon, title, model; behind a colon a page of it that is not its list.
_GROUPS: tuple[tuple[str, tuple[tuple[Area, str, str, str], ...]], ...] = (
    (
        "Tenants and people",
        (
            (Area.TENANTS, "apartment", "Tenants", "organizations_tenant"),
            (Area.ORGANIZATIONS, "account_tree", "Organizations", "organizations_organization"),
            (Area.MEMBERSHIPS, "group", "Memberships", "organizations_membership"),
            (Area.PEOPLE, "person", "People", "organizations_user"),
            (Area.ROLES, "badge", "Roles", "organizations_role"),
        ),
    ),
    (
        "Access",
        (
            (Area.KEYS, "key", "API keys", "organizations_apikey"),
            (Area.KEYS, "smart_toy", "Service accounts", "organizations_serviceaccount"),
            (Area.CLIENTS, "apps", "OAuth clients", "organizations_oauthapplication"),
            (Area.SECURITY, "encrypted", "Signing keys", "organizations_signingkey"),
            (Area.SECURITY, "security", "Security log", "organizations_securitylogentry"),
            (Area.SECURITY, "history", "Staff actions", "admin_logentry"),
        ),
    ),
    (
        "In the acting tenant",
        (
            (Area.CONFIGURATION, "tune", "Configuration", "organizations_tenantconfiguration"),
            (Area.CONFIGURATION, "difference", "Configuration changes", "organizations_configurationversion"),
            (Area.ENTITLEMENTS, "sell", "Entitlements", "organizations_entitlement"),
            (Area.ENTITLEMENTS, "speed", "Quotas", "organizations_quota"),
            (Area.LOCATIONS, "location_on", "Locations", "organizations_location"),
            (Area.JOBS, "work_history", "Jobs", "organizations_job"),
            (Area.CATALOG, "inventory_2", "Products", "suppliers_product"),
            (Area.CATALOG, "package_2", "Packagings", "suppliers_packaging"),
            (Area.CATALOG, "category", "Own categories", "suppliers_category"),
            (Area.CATALOG, "inventory", "Stock items", "suppliers_stockitem"),
            (Area.CATALOG, "shelves", "Stock levels", "suppliers_stocklevel"),
            (Area.CATALOG, "tag", "Lots", "suppliers_lot"),
            (Area.CATALOG, "qr_code", "Serial numbers", "suppliers_serial"),
            (Area.CATALOG, "report", "Recall desk", "suppliers_recall"),
            (Area.CATALOG, "mark_email_unread", "Received recalls", "suppliers_receivedrecall"),
            (Area.CATALOG, "swap_horiz", "Stock movements", "suppliers_stockmovement"),
            (Area.CATALOG, "pill", "Dispensed lines", "suppliers_dispensebooking"),
            (Area.CATALOG, "bookmark", "Reservations", "suppliers_reservation"),
            (Area.CATALOG, "bookmarks", "Received reservations", "suppliers_receivedreservation"),
            (Area.CATALOG, "storefront", "Offers", "suppliers_offer"),
            (Area.CATALOG, "sell", "Price lists", "suppliers_pricelist"),
            (Area.CATALOG, "percent", "Pricing rules", "suppliers_pricingrule"),
            (Area.CATALOG, "help", "Why this price", "suppliers_price:why"),
            (Area.CATALOG, "campaign", "Promotions", "suppliers_promotion"),
            (Area.CATALOG, "redeem", "Redeemed promotions", "suppliers_promotionredemption"),
            (Area.CATALOG, "contract", "Price agreements", "suppliers_priceagreement"),
            (Area.CATALOG, "contract_edit", "Drafts of price agreements", "suppliers_agreementdraft"),
            (Area.CATALOG, "task", "Received price agreements", "suppliers_receivedagreement"),
            (Area.CATALOG, "notifications", "Notifications", "suppliers_notification"),
            (Area.CATALOG, "domain", "Supplier profile", "suppliers_supplierprofile"),
            (Area.CATALOG, "license", "Licences", "suppliers_supplierlicense"),
            (Area.CATALOG, "attach_file", "Files", "suppliers_file"),
            (Area.CATALOG, "attachment", "Received files", "suppliers_receivedfile"),
            (Area.CATALOG, "summarize", "Reports", "suppliers_report"),
            (Area.CATALOG, "handshake", "Relationships to suppliers", "suppliers_relationship"),
            (Area.CATALOG, "storefront", "Managed suppliers", "suppliers_managedsupplier"),
            (Area.CATALOG, "shopping_cart", "Purchase orders", "suppliers_purchaseorder"),
            (Area.CATALOG, "list", "Lines of purchase orders", "suppliers_purchaseorderline"),
            (Area.CATALOG, "edit_note", "Changes of purchase orders", "suppliers_orderchange"),
            (Area.CATALOG, "inbox", "Received orders", "suppliers_receivedorder"),
            (Area.CATALOG, "local_shipping", "Deliveries of goods", "suppliers_delivery"),
            (Area.CATALOG, "list", "Lines of deliveries", "suppliers_deliveryline"),
            (Area.CATALOG, "report", "Exceptions of deliveries", "suppliers_deliveryexception"),
            (Area.CATALOG, "inventory_2", "Shipments in preparation", "suppliers_shipmentdraft"),
            (Area.CATALOG, "inbox", "Received deliveries", "suppliers_receiveddelivery"),
            (Area.CATALOG, "approval", "Approvals", "procurement_approval"),
            (Area.CATALOG, "pending_actions", "Pending approvals", "procurement_approvalstep"),
            (Area.CATALOG, "move_to_inbox", "Receipts", "suppliers_receipt"),
            (Area.CATALOG, "list", "Lines of receipts", "suppliers_receiptline"),
            (Area.CATALOG, "inbox", "Received receipts", "suppliers_receivedreceipt"),
            (Area.BILLING, "assignment_return", "Returns", "suppliers_return"),
            (Area.BILLING, "list", "Lines of returns", "suppliers_returnline"),
            (Area.BILLING, "inbox", "Received returns", "suppliers_receivedreturn"),
            (Area.BILLING, "fact_check", "Returned goods set apart", "suppliers_returnprivate"),
            (Area.BILLING, "request_quote", "Invoices", "suppliers_invoice"),
            (Area.BILLING, "list", "Lines of invoices", "suppliers_invoiceline"),
            (Area.BILLING, "inbox", "Received invoices", "suppliers_receivedinvoice"),
            (Area.BILLING, "payments", "Payments", "suppliers_payment"),
            (Area.BILLING, "list", "Invoices that payments pay", "suppliers_paymentallocation"),
            (Area.BILLING, "list", "Credit that payments use", "suppliers_creditsource"),
            (Area.BILLING, "inbox", "Received payments", "suppliers_receivedpayment"),
            (Area.CATALOG, "bar_chart", "Figures of trade", "suppliers:figures"),
            (Area.CATALOG, "savings", "Budgets", "procurement_budget"),
            (Area.CATALOG, "receipt", "Budget entries", "procurement_budgetentry"),
            (Area.WEBHOOKS, "webhook", "Webhook endpoints", "webhooks_endpoint"),
            (Area.WEBHOOKS, "bolt", "Webhook events", "webhooks_event"),
            (Area.WEBHOOKS, "send", "Deliveries", "webhooks_delivery"),
            (Area.WEBHOOKS, "replay", "Replays", "webhooks_replay"),
            (Area.RECORDS, "clinical_notes", "Clinical record", "fhir_api_resource"),
            (Area.RECORDS, "dictionary", "Value sets", "fhir_api_valueset"),
            (Area.RECORDS, "prescriptions", "Prescriptions", "prescriptions_prescription"),
            (Area.RECORDS, "inbox", "Received prescriptions", "prescriptions_receivedprescription"),
            (Area.RECORDS, "hourglass_bottom", "Stuck prescriptions", "prescriptions_prescription:stuck"),
            (Area.RECORDS, "bar_chart", "Figures of prescriptions", "prescriptions_prescription:figures"),
            (Area.RECORDS, "event_repeat", "Recurring treatments", "prescriptions_recurringtreatment"),
            (Area.SECURITY, "verified", "Checkpoints", "prescriptions_checkpoint"),
            (Area.CATALOG, "medication", "Own tables of medications", "prescriptions_tenanttableversion"),
            (Area.RECORDS, "event", "Appointments", "appointments_appointment"),
            (Area.RECORDS, "schedule", "Schedules", "appointments_schedule"),
            (Area.JOBS, "download", "Exports of the record", "fhir_api_exportjob"),
            (Area.SECURITY, "visibility_lock", "Access to patients' data", "fhir_api_accessrecord"),
            (Area.LEDGER, "receipt_long", "Ledger events", "ledger_event"),
            (Area.LEDGER, "pending_actions", "Ledger pending", "ledger_pending"),
        ),
    ),
    (
        "Shared by all tenants",
        (
            (Area.CATALOG, "fact_check", "Qualification desk", "suppliers_supplierprofile:desk"),
            (Area.CATALOG, "assignment_late", "Exceptions", "suppliers:exceptions"),
            (Area.CATALOG, "notification_important", "Open alerts", "suppliers_notification:queue"),
            (Area.CATALOG, "schema", "Platform categories", "suppliers_platformcategory"),
            (Area.CATALOG, "content_copy", "Duplicate GTINs", "suppliers_platformcategory:duplicates"),
            (Area.CATALOG, "label", "Attributes", "suppliers_attributedefinition"),
            (Area.CATALOG, "pill", "Tables of medications", "prescriptions_platformtableversion"),
            (Area.LOCATIONS, "local_pharmacy", "Pharmacy directory", "organizations_pharmacylisting"),
            (Area.CONFIGURATION, "lock", "Organization settings", "organizations_organizationconfiguration"),
        ),
    ),
)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups of the side bar, with the pages that the role of the staff member may see."""
    top = [
        {"title": "Overview", "icon": "dashboard", "link": reverse("admin:index")},
        {"title": "Acting tenant", "icon": "visibility", "link": reverse("admin:acting_tenant")},
    ]
    groups: list[dict[str, Any]] = [{"title": "", "separator": False, "items": top}]
    for title, pages in _GROUPS:
        items = [
            {"title": name, "icon": icon, "link": reverse(_page(model))}
            for area, icon, name, model in pages
            if sees(request.user, area)
        ]
        if items:
            groups.append({"title": title, "separator": True, "collapsible": False, "items": items})
    return groups


@cache
def titles() -> dict[str, str]:
    """Return the name that the menu gives to each address, whatever a role may see."""
    return {reverse(_page(model)): title for _, pages in _GROUPS for _, _, title, model in pages}


def _page(model: str) -> str:
    name, _, view = model.partition(":")
    return f"admin:{name}_{view or 'changelist'}"


def overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the context of the overview page as far as the role may see it: totals of all tenants, no rows of any."""
    at = now()
    user = request.user
    return context | {
        "tenants_by_status": figures.tenants_by_status() if sees(user, Area.TENANTS) else None,
        "refusals": figures.refusals(at) if sees(user, Area.SECURITY) else None,
        "backlog": backlog() if sees(user, Area.LEDGER) else None,
        "webhooks": latest_attempts() if sees(user, Area.WEBHOOKS) else None,
        "expiring_keys": figures.expiring_keys(at) if sees(user, Area.KEYS) else None,
        "unguarded": unguarded_tenants(at) if sees(user, Area.SECURITY) else None,
        "waiting_clients": figures.waiting_clients() if sees(user, Area.CLIENTS) else None,
    }
