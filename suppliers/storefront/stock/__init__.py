"""What a buyer does with the stock of suppliers."""
