"""How alike two texts are: word forms, word order, contradiction. Files and records are not known here."""
