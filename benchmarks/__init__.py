"""Measure sat-retriever: one command a table, results committed as lines of JSON.

`python -m benchmarks list` names the tables. `python -m benchmarks run TABLE` measures one:
`benchmarks.runner` reads its options, `benchmarks.results` writes what it yields. `python -m
benchmarks tables` renders the results into the README and the docs.
"""
