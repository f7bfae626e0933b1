"""Text display: escaping, glyphs, styles, line filters, clickable pieces. No widgets."""
