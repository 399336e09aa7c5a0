"""Sessions: a script of questions as part of the data set, and the transcript as the output."""
