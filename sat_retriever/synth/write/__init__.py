"""Write calculated workbooks as .xlsx files."""
