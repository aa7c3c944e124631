"""Reports: rows of orders, stock, movements, prices or recalls as of one time, written into a file by workers."""
