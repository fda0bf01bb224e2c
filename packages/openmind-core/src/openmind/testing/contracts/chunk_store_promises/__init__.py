"""What a chunk store promises, by what the promises are about."""
