"""Measure sat-retriever: one command a table, results committed as JSON.

`python -m benchmarks list` names the tables, `python -m benchmarks run TABLE` measures one and
writes its result files through `benchmarks.results`, and `python -m benchmarks tables` renders
them into the README.
"""
