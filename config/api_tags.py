"""The tags of the API document with their descriptions, in the order in which they are shown."""

CONTACT = {"name": "Platform support"}

TAGS: list[dict[str, str]] = [
    {"name": name, "description": text}
    for name, text in {
        "Sign-in": "First-party sign-in: passwords, second factor, invitations. Other applications use OAuth instead.",
        "Me": "The caller: subject, tenant, memberships, roles and scopes in effect.",
        "Organizations": "The tree of organizations: health groups, hospitals, pharmacies, suppliers.",
        "Tenants": "Tenants, with their settings, features and quotas. The data of each tenant are kept separate.",
        "Memberships": "Who belongs to a tenant, with which roles, at which locations.",
        "Locations": "A tenant's wards, pharmacies and warehouses, and the public directory of pharmacies.",
        "API keys": "Credentials for systems. A key is shown once, when it is created.",
        "Rate limits": "What remains of the caller's rate limits and of the tenant's quotas.",
        "Jobs": "Work that continues after the response: its state, progress and result.",
        "Supplier": "The supplier's own company.",
        "Categories": "The platform's product categories and the supplier's own categories, as one tree.",
        "Attributes": "What the platform defines that products can have beside their fields, such as sizes and materials.",
        "Products": "A supplier's products, with packagings, prices and stock.",
        "Inventory": "The tenant's own stock: where it lies, in which lots, what moved it, and who holds some of it.",
        "Marketplace": "What a supplier offers, to whom, and how buyers are told of its stock.",
        "Price agreements": "What a buyer and a supplier have negotiated: drafts, versions, and their lines.",
        "Prices": "Price lists, pricing rules and promotions, each under the supplier's own code.",
        "Analytics": "A supplier's figures over time, what needs a look, and reports as files.",
        "Notifications": "Messages between the parties of a document, alerts of what needs attention, and how a tenant is told.",
        "Files": "Images, documents and certificates: uploaded, scanned, bound to what they belong to, read by signed links.",
        "Stock": "What suppliers have in stock for the tenant, and what is reserved of it.",
        "Procurement": "The buying side: what suppliers offer to the tenant, with its prices.",
        "Orders": "The orders that buyers have sent to the supplier.",
        "Purchase orders": "What the tenant orders of its suppliers: drafts at the prices of now, and what becomes of them.",
        "Deliveries": "What suppliers have shipped: on its way, received, lost, and what went wrong with it.",
        "Returns": "Goods that buyers send back: requested, authorized, on their way, inspected, and what followed.",
        "Invoices": "What suppliers ask money for: invoices, prepayments and credit notes, how they match, and what was made of them.",
        "Payments": "What a buyer pays its suppliers: for which invoices, and what the bank has made of it.",
        "Budgets": "What a buyer may spend in a period, what orders have committed of it, and what invoices have spent.",
        "Prescriptions": "Drafts, clinical checks, signatures, routes to pharmacies, dispensing, and the evidence of all of it.",
        "Medications": "The platform's tables of medications with the tenant's own.",
        "Appointments": "Appointments of patients with practitioners, working hours and absences, and free times.",
        "Webhooks": "Endpoints that events are sent to, the deliveries to them, their signing secrets, and replays.",
        "Events": "The log of events, for clients that poll instead of receiving webhooks.",
        "Event messages": "What the platform sends to webhook endpoints, one message for each type of event.",
    }.items()
]
