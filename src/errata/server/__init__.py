"""The server: the page that people look at, and the API behind it. Needs the extra `server`."""
