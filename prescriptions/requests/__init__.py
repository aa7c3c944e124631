"""What pharmacies ask of prescribers: renewal, change, clarification."""
