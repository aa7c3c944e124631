"""Bodies of the app's writes; each refuses unknown members."""
