"""The method as tensors: stacks of members, replacement, objective and the one training loop. torch and numpy only."""
