"""Derive from the templates what an index must find in made workbooks."""
