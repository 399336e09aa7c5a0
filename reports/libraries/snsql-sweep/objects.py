# snsql 1.0.10, as built by `python -m auditor.libraries snsql`.
# ruff: noqa
# fmt: off
import snsql
import snsql.sql._mechanisms
import pandas
import snsql

COLUMNS = {
    "person": {"type": "int", "private_id": True},
    "age": {"type": "int", "lower": 0, "upper": 100},
    "city": {"type": "string", "nullable": False},
}
NAMES = {name: [] for name in COLUMNS}


def reader(privacy=None, columns=COLUMNS, **table):
    privacy = privacy or snsql.Privacy(epsilon=1.0, delta=0.01)
    return snsql.from_df(pandas.DataFrame(NAMES), privacy=privacy, metadata={"": {"": {"people": {**columns, **table}}}})


def gaussian():
    privacy = snsql.Privacy(epsilon=1.0, delta=0.01)
    kinds = privacy.mechanisms.map
    kinds.update(dict.fromkeys(kinds, snsql.Mechanism.gaussian))
    return privacy


ROWS = {name: column for name, column in COLUMNS.items() if name != "person"}

from_df = reader(censor_dims=False)
from_df_2 = reader(censor_dims=False, max_ids=3)
from_df_3 = reader(censor_dims=False)
from_df_4 = reader(censor_dims=False)
from_df_5 = reader(censor_dims=False)
from_df_6 = reader(censor_dims=False, max_ids=2)
from_df_7 = reader(censor_dims=False)
from_df_8 = reader(censor_dims=False)
from_df_9 = reader(gaussian(), censor_dims=False)
from_df_10 = reader(gaussian(), censor_dims=False)
from_df_11 = reader(columns=ROWS, row_privacy=True, censor_dims=False)
from_df_12 = reader()
from_df_13 = reader(max_ids=2)
from_df_14 = reader(max_ids=2)
from_df_15 = reader(gaussian())
from_df_16 = reader()
Gaussian = snsql.sql._mechanisms.Gaussian(1.0, delta=0.01, sensitivity=1)
Gaussian_2 = snsql.sql._mechanisms.Gaussian(1.0, delta=0.01, sensitivity=100)
Laplace = snsql.sql._mechanisms.Laplace(1.0, sensitivity=1)
Laplace_2 = snsql.sql._mechanisms.Laplace(1.0, sensitivity=100, max_contrib=2)
