"""Speed and memory, each measurement with a peer or a limit beside it from the same run."""
