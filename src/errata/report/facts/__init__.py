"""All that a report says, as data; one record for each profile."""
