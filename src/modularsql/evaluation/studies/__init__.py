"""Studies of the detector and the guard over a finished run; none of them runs SQL."""
