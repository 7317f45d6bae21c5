"""Language models: one question at a time, answered in a given form."""
