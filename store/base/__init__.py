"""What every other package may need: errors, the clock, citations, record types, where a memory lies. Nothing here
opens a file of a memory."""
