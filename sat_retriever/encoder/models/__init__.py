"""Model folders, and the trained models of this package."""
