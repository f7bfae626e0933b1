"""Pairs of facts in Spanish and English as people and agents write them, with a person's judgement of each.

`same`: one of the two suffices. `contradicts`: only one can be true. `apart`: both can be true. Written before the
rules; HELD was not read while they were made."""

from support.cases import load_cases

DEVELOPED, HELD, BY_MEANING = ([tuple(pair) for pair in pairs] for pairs in load_cases(__file__).values())
