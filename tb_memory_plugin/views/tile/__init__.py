"""A tile of the picture of lives: up to 512 bins of an axis, made into what a screen can draw."""
