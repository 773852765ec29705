"""Statistics of drift: what a growing store does to the same probes, asked again and again."""
