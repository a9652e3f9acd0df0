"""Four published learners that keep values in a table and are trained by compiled loops."""
