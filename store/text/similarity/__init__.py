"""How alike two texts are: word forms, synonyms, word order, contradiction. Files and records are not known here."""
