"""What a file is: recognised by its content, held against what was declared, and refused where it could do harm."""
