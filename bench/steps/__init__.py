"""The evidence log beside the decisive steps that people marked."""
