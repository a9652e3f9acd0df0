"""A run of any algorithm: its folder, its loop, checkpoints, record and pictures. It knows no algorithm."""
