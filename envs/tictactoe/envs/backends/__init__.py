"""How a vector environment holds its boards: as rows of a table, or as bitboards that NumPy or compiled loops play."""
