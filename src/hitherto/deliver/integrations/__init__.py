"""Memory for other people's frameworks. Each module needs its framework alone; `hitherto.integrations` is the short way in."""
