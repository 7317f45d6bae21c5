"""Workbook file to records, formulas and skipped parts."""
