"""Figures of the pages, computed from the data files; each module holds those of one subject."""
