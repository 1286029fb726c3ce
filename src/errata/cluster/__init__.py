"""The work of one command on several machines: tasks, the workers that run them, and the results in their order."""
