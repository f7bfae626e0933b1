"""Whether a sentence of an answer is borne out by the record that it cites."""
