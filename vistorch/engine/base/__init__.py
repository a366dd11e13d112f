"""Names and switches of the engine that know no tensor."""
