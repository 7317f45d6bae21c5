"""Index on the nodes of a Ray cluster; no other package imports Ray."""
