"""Readers of file formats: one file to messages."""
