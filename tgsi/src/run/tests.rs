//! Unit tests of what the recorded results do not reach.
