"""What the lists of the main screen show: loading, order, filters, marks. No drawing of rows."""
