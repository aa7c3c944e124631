"""Files of a tenant: uploaded or pre-signed, scanned before anybody reads them, bound to what they belong to."""
