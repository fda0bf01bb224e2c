"""What embeds, answers and describes."""
