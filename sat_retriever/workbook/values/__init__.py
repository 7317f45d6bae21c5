"""The values of a sheet, by either of two readers."""
