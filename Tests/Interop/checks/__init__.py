"""The checks, by what they are about. Importing a module puts its checks into the table."""
