"""All tests. As a package, they are not hidden by a folder `tests` that another package installs, as pgx does."""
