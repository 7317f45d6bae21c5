"""Reading of workbook files: records, formulas and skipped parts."""
