"""The openmind command."""
