"""The model server: which model may be asked, and asking it so that each failure ends in time, with its cause. What is
asked is in `learning` and `librarian`."""
