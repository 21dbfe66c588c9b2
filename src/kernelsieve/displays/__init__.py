"""Pictures of paths, bounds, landmarks and features, drawn with matplotlib."""
