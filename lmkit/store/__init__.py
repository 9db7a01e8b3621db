"""Floor 1: what lies on disk: model directories, mapped arrays, home and names."""
