"""The screens of what people share: the writers of a team, and a database that a team fills."""
