"""The data of found tables: typed columns, read anew from the file.

`load` reads a table, `columns` types its columns, `numbers` reads numbers and dates in texts,
`show` writes a table as text.
"""
