"""What a deployment answers, saved in a folder as evidence. The only stage that reads the network."""
