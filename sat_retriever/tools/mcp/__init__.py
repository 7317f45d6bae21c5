"""The tools of an index as a server for clients of the Model Context Protocol.

SheetTools → server (lists and calls tools) → serving (stdio, or an application for HTTP) → clients
"""
