"""A retriever adapted to one corpus by questions that are made from the corpus itself."""
