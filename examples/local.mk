# Programs to learn from; built by make check, not installed.
