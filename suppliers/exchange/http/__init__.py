"""How documents for other systems are asked for and answered over HTTP."""
