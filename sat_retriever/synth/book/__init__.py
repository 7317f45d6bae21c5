"""Describe, build and cut workbooks before they are written as files."""
