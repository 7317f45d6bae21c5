"""How sure an answer is that the index holds one."""
