"""Four published learners that keep a number per position in a table, trained by compiled loops."""
