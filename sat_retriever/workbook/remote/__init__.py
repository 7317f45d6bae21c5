"""Workbooks at a URL: listed in pages, downloaded within limits, kept in a private cache."""
