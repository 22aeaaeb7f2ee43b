// What options are where nothing is said, as on the command line and in Python.
export const SHOWN_MODES = 10; // of an analysis of modes, lowest first
export const FOLLOWED_MODES = 6; // of a map of modes
export const SAG = true; // the robot in a pose is in balance under gravity
export const SWEPT = "simulate"; // analysis of a sweep
