"""Documents for other systems: orders, deliveries and bills as UBL 2.1, deliveries as EPCIS 2.0; chosen by Accept.

They are made of what both parties may see of a document, so that both get the same. Source: contract, supply-invoice.md 5.
"""
