"""The settings of a person: one file of theirs, one beside a project's memory, which overrides it, and for retention
periods environment variables, which override both.

The project's file is in `.memoranda`, never in the checkout itself, whose content others write.
"""
