"""Background work: the application's connections and threads. No widgets."""
