"""The parts of the HTTP face of the evaluation call: keys, rates, workspaces, routes."""
