"""Measure rankings on real workbooks, by people's own words about their sheets."""
