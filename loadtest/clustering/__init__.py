"""What `loadtest/bench-cluster` measures. The cluster and its calls are those of Tests/Cluster."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/Cluster"))
