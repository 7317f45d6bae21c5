"""Keep an index in step with its workbooks: plan, read, encode and store."""
