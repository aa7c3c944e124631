"""The groups of the API document: what each holds, in the order in which they are shown."""

CONTACT = {"name": "Platform support"}

TAGS: list[dict[str, str]] = [
    {"name": name, "description": text}
    for name, text in {
        "Sign-in": "First-party sign-in: passwords, second factor, invitations. Applications of others use OAuth instead.",
        "Me": "The caller: subject, tenant, memberships, roles and scopes in effect.",
        "Organizations": "The tree of organizations: health groups, hospitals, pharmacies, suppliers.",
        "Tenants": "Tenants, with their settings, features and quotas. All data of a tenant is separate from that of others.",
        "Memberships": "Who belongs to a tenant, with which roles, at which locations.",
        "Locations": "A tenant's wards, pharmacies and warehouses, and the public directory of pharmacies.",
        "API keys": "Credentials for systems. A key is shown once, when it is made.",
        "Rate limits": "What is left of the caller's rate limits and of the tenant's quotas.",
        "Jobs": "Work that goes on after the answer: its state, its progress, its result.",
        "Categories": "The platform's product categories and the supplier's own ones, as one tree.",
        "Products": "A supplier's products, with packagings, prices and stock.",
        "Webhooks": "Endpoints that events are sent to, the deliveries to them, their signing secrets, and replays.",
        "Events": "The log of events, for those who would rather read than be called.",
        "Event messages": "What the platform sends to webhook endpoints, one message for each type of event.",
    }.items()
]
