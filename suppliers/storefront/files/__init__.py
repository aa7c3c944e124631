"""Files as those read them who may see what the files show."""
