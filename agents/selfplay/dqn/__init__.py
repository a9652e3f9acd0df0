"""Deep Q-learning by interleaved self-play: settings, networks, memory, targets, and the learner that joins them."""
