"""The shop window as a buyer walks by: the products of all suppliers that are offered to it, with its prices."""
