"""Fabricate a source and a target table from one table, as data for matchers."""
