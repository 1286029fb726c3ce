"""What Harbor calls its files, and how much of them is read."""

NAME = "harbor"

TRAJECTORY_CAP = 64 * 1024 * 1024
