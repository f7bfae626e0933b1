"""The screens that are shown on top of the main one: choosers and forms, plans, the first start, the help."""
