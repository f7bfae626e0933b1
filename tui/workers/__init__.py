"""Work beside the screen: connections and threads of the application. No widget."""
