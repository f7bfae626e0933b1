"""What a person has set: one file of theirs, one beside a project's memory, which wins over it, and for how long
things are kept variables of the environment, which win over both.

The project's file lies in `.memoranda`, never in the checkout itself: strangers write what a checkout brings.
"""
