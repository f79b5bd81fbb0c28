"""The picture of a dependency: what lies between its pins, fixes and targets, in SVG, PNG and words."""
