"""HTTP of dispensing: what a pharmacy does with prescriptions, and the dispensations as both sides read them."""
