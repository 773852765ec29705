"""Reading probe files: from bytes to nodes that know their line, and from nodes to probes."""
