"""The tables of commands and keys, the parser of arguments, and completion."""
