"""The times that names of sheets say, and those that questions ask for."""
