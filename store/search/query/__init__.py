"""What was asked: parsing, filters, and who may see what. No ranking."""
