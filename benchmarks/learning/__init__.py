"""What training comes to, by exact evaluation: how soon, how well, and beside what was published."""
