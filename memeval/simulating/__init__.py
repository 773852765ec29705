"""Growing a store: what is planted when, what is written and asked, and what is kept of it."""
