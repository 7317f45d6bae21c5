"""SQL over found tables: names for them, a process that runs one query, an answer with citations.

`names` gives tables and columns readable names, `query` loads tables and asks, `ask` runs the
process with its limits, `process` is that process, `check` allows a statement or refuses it.
"""
