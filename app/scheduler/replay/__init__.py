"""Conformance vectors: the little world around the engine that replays decisions of the real scheduler."""
