"""Opus, resampling and the detection of voice."""
