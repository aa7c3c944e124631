"""Orders: one document of the buyer, and the copy that its supplier has received."""
