"""From the sheet to the answer: tables as data, SQL over them, and statements meant to do harm."""
