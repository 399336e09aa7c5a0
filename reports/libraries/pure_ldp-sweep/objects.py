# pure_ldp 1.2.0, as built by `python -m auditor.libraries pure_ldp`.
# ruff: noqa
# fmt: off
import pure_ldp.frequency_oracles
import pure_ldp.heavy_hitters
import pure_ldp.frequency_oracles.zero_oracle.zero_oracle_client
import xxhash


def hashed(size, seed):
    return lambda item: xxhash.xxh32(str(item).encode(), seed=seed).intdigest() % size


HASHES = [hashed(16, seed) for seed in range(4)]
SIGNED = [(hashed(16, seed), hashed(2, seed + 99)) for seed in range(4)]
BLOOM = [[hashed(8, 1), hashed(8, 2)], [hashed(8, 3), hashed(8, 4)]]
SKETCH = pure_ldp.frequency_oracles.CMSClient(epsilon=1.0, hash_funcs=HASHES, m=16)

CMSClient = pure_ldp.frequency_oracles.CMSClient(epsilon=1.0, hash_funcs=HASHES, m=16)
CMSClient_2 = pure_ldp.frequency_oracles.CMSClient(epsilon=1.0, hash_funcs=HASHES, m=16, is_hadamard=True)
DEClient = pure_ldp.frequency_oracles.DEClient(epsilon=1.0, d=4)
FastLHClient = pure_ldp.frequency_oracles.FastLHClient(epsilon=1.0, d=4, k=10)
HEClient = pure_ldp.frequency_oracles.HEClient(epsilon=1.0, d=4)
HadamardMechClient = pure_ldp.frequency_oracles.HadamardMechClient(epsilon=1.0, d=8, t=2)
HadamardResponseClient = pure_ldp.frequency_oracles.HadamardResponseClient(epsilon=1.0, d=4, hash_funcs=None)
LHClient = pure_ldp.frequency_oracles.LHClient(epsilon=1.0, d=4)
LHClient_2 = pure_ldp.frequency_oracles.LHClient(epsilon=1.0, d=4, use_olh=True)
PCSClient = pure_ldp.frequency_oracles.PCSClient(epsilon=1.0, l=4, w=16, hash_funcs=SIGNED)
RAPPORClient = pure_ldp.frequency_oracles.RAPPORClient(f=0.5, m=8, hash_funcs=BLOOM, num_of_cohorts=2)
SketchResponseClient = pure_ldp.frequency_oracles.SketchResponseClient(epsilon=1.0, m=16, hash_funcs=HASHES)
UEClient = pure_ldp.frequency_oracles.UEClient(epsilon=1.0, d=4)
UEClient_2 = pure_ldp.frequency_oracles.UEClient(epsilon=1.0, d=4, use_oue=True)
PEMClient = pure_ldp.heavy_hitters.PEMClient(epsilon=1.0, start_length=2, max_string_length=6, fragment_length=2)
SFPClient = pure_ldp.heavy_hitters.SFPClient(epsilon=1.0, fragment_length=2, max_string_length=6, fo_client=SKETCH)
TreeHistClient = pure_ldp.heavy_hitters.TreeHistClient(epsilon=1.0, fragment_length=2, max_string_length=6)
ZeroOracleClient = pure_ldp.frequency_oracles.zero_oracle.zero_oracle_client.ZeroOracleClient()
