"""ldp-hierarchical-mechanism 0.1.3: the tree of one user's report, which is all that the server learns of it."""

import numpy as np
from hierarchical_mechanism_LDP import Private_TreeBary


def tree(data, protocol, epsilon, all_levels):
    private = Private_TreeBary(4, 2, epsilon, protocol=protocol, on_all_levels=all_levels)
    private.update_tree(np.array([data]))
    if all_levels:
        private.compute_attributes()
        return [np.round(level, 9).tolist() for level in private.attributes[1:]]
    # A level without a report has no frequencies.
    return [np.array(server.aggregated_data, float).tolist() for server in private.servers]
