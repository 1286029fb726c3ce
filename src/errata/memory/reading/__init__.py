"""Reading a markdown report: errata's own exactly, other people's as well as possible. Starts in `report`."""
