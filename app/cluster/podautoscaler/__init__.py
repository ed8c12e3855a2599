"""What the horizontal autoscaler reckons with: measurements, proposals and the limits of a change."""
