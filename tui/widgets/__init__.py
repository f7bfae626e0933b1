"""The widgets of the screen: those that show records, in the order of the eye."""
