"""Test correctness with damaged files, killed processes, many users and long runs."""
