"""Audio: frames of PCM, Opus, sources that are published and streams that are received."""
