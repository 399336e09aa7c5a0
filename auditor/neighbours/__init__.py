"""Where a claim could break: pairs of neighbouring data sets, the domains they come from, and the search."""
