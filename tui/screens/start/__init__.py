"""Screens that a start may show: whose a memory is, and what a first start found."""
