"""Where records, tokens, links and the lexical index are kept."""
