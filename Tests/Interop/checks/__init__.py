"""The checks by topic. Importing a module registers its checks."""
