"""What every other package may need: errors, the clock, citations, record types, the location of a memory. Nothing here
opens a file of a memory."""
