"""The data of found tables: typed columns, read anew from the file.

`load` reads a table with typed columns,
`show` writes a table as text.
"""
