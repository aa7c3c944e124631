"""UBL 2.1 in the profiles of Peppol BIS 3."""
