"""What a supplier asks for his products."""
