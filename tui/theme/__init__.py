"""How text looks: escaping, glyphs, styles, filters of lines, pieces that can be clicked. No widget."""
