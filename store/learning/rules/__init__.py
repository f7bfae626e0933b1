"""Rules that find requests, lasting rules, corrections and repetitions in a turn by its words. They read and write no
file."""
