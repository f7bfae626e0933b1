"""The tables of commands and keys, and what reads them: the parser of arguments, completion."""
