"""Write recipes as formulas, and calculate their values."""
