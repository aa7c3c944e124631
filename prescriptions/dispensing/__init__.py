"""The pharmacy's side: received prescriptions, dispensations, tokens."""
