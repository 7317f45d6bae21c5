"""Store records, tokens, links and the lexical index."""
