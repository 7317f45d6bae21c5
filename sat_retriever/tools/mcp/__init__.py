"""The tools of an index for clients of the Model Context Protocol.

SheetTools → server (lists and calls tools) → serving (stdio, or HTTP behind hostcheck) → clients
"""
