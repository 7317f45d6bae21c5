"""Measurements of sat-retriever: one command a table, results committed as JSON.

Every module is run as `python -m benchmarks.NAME`, writes its result files through
`benchmarks.results`, and `python -m benchmarks.tables` renders them into the README.
"""
