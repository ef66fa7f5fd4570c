"""The embedded store: one SQLite file per user, and a catalog of what belongs to no single one."""
