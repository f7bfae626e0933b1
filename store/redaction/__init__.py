"""Redaction: every secret in a text becomes `[REDACTED:LABEL]`, before the text is written anywhere.

Matching happens on a normalised copy (NFKC, invisible characters removed), the cut in the original. What is found, and
every marker that is already there, is masked in that copy with NUL, and the table is read again until it finds
nothing: so a marker is never matched, and `redact(redact(x)) == redact(x)`.
"""
