"""What was played of an agent's speech, and which characters of its text were heard. Pure: time is an argument."""
