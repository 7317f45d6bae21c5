"""Reading of a sheet's values with one of two readers."""
