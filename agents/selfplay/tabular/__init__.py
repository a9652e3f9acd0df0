"""Four published learners that keep numbers per position in a table, trained by compiled loops."""
