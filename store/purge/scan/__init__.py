"""Finding text wherever it is kept: by pattern, column and byte. Nothing here deletes."""
