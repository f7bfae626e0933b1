"""The families of secrets and what each recognises. What is done with a match is in `redactor`."""
