"""Every version of the memory files of other tools: kept encrypted in a database apart from any memory, compared, and
put back. Nothing is installed in the other tool; what it keeps is written only when a person puts something back."""
