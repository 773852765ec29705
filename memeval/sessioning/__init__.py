"""What the generated sessions are made of: people, topics, stories, small talk, noise."""
