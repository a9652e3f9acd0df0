"""What every benchmark measures and prints with: the machine, fresh interpreters, spreads, tables."""
