"""What a purge leaves in the file: its state, the keyed digests of what it erased, the numbers that stay gone."""
