"""Damaged files, killed processes, many users, long runs: does the answer stay right?"""
