"""Copies and versions: made histories of workbooks, their groups and questions about them."""
