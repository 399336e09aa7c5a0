"""insurance-fairness-ldp 0.1.1: one person's sensitive attribute."""

from insurance_fairness_ldp import mechanisms


def privatise(data, epsilon, categories):
    return mechanisms.privatise([data], epsilon=epsilon, categories=categories)


def by_truth(data, pi, categories):
    return mechanisms.KaryRandomisedResponse(mechanisms.epsilon_from_pi(pi, len(categories)), categories).privatise(
        [data]
    )
