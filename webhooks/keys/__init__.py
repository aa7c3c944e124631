"""The keys an endpoint signs with: listed, rotated, revoked; never shown again."""
