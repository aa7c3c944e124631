"""Documents of two parties: one owner's rows, and the copy that the other party has received.

Source: contract, organizations.md "Documents of two parties"; supply.md section 3.
"""
