"""Redaction: replace every secret in a text by `[REDACTED:LABEL]`, before the text is written anywhere.

Matching runs on a normalised copy (NFKC, invisible characters removed), the cut is made in the original. Matches, and
existing markers, are masked in that copy with NUL, and the table is applied again until it finds nothing: so a marker
is never matched, and `redact(redact(x)) == redact(x)`.
"""

REDACTION_MARKER = "[REDACTED:"
"""What every replaced secret begins with; the label and a bracket follow."""
