"""What is promised: a claim is a sentence about every pair of neighbouring data sets, with numbers in nats.

Everything that depends on the kind of claim alone is here. How a claim is tested is said by its method (:mod:`auditor.methods`).
"""

from auditor.claims.claim import KINDS as KINDS
from auditor.claims.claim import STRONGER_IF_LARGER as STRONGER_IF_LARGER
from auditor.claims.claim import Claim as Claim
from auditor.claims.claim import claim_from_dict as claim_from_dict
from auditor.claims.claim import register_claim as register_claim
from auditor.claims.privacy import ApproximateDP as ApproximateDP
from auditor.claims.privacy import DivergenceClaim as DivergenceClaim
from auditor.claims.privacy import GaussianDP as GaussianDP
from auditor.claims.privacy import PrivacyClaim as PrivacyClaim
from auditor.claims.privacy import PrivacyProfile as PrivacyProfile
from auditor.claims.privacy import PureDP as PureDP
from auditor.claims.privacy import RenyiDP as RenyiDP
from auditor.claims.privacy import Unclaimed as Unclaimed
from auditor.claims.privacy import ZeroConcentratedDP as ZeroConcentratedDP
from auditor.claims.queries import Monotone as Monotone
from auditor.claims.queries import Norm as Norm
from auditor.claims.queries import Probability as Probability
from auditor.claims.queries import QueryClaim as QueryClaim
from auditor.claims.queries import Sensitivity as Sensitivity

_PRIVACY = (PureDP, ApproximateDP, RenyiDP, ZeroConcentratedDP, GaussianDP, PrivacyProfile)
for _kind in (*_PRIVACY, Sensitivity, Monotone, Probability):
    register_claim(_kind)
