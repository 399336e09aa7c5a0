"""nvflare 2.9.0: the filter on a client's update of two weights; the rest of the framework is stood in for."""

import importlib
import logging

import numpy as np
from stand_ins import load_submodules_only, stand_in_for

stand_in_for("nvflare.fuel", "nvflare.security", "nvflare.private")
load_submodules_only(
    "nvflare", "nvflare.apis", "nvflare.apis.utils", "nvflare.app_common", "nvflare.app_common.filters"
)
importlib.import_module("nvflare.fuel.utils.log_utils").get_obj_logger = lambda component: logging.getLogger("nvflare")
from nvflare.apis.dxo import DXO, DataKind  # noqa: E402
from nvflare.apis.fl_context import FLContext  # noqa: E402
from nvflare.apis.shareable import Shareable  # noqa: E402
from nvflare.app_common.filters.svt_privacy import SVTPrivacy  # noqa: E402


def svt(data, **arguments):
    update = DXO(DataKind.WEIGHT_DIFF, data={"layer": np.array(data, float)})
    return SVTPrivacy(**arguments).process_dxo(update, Shareable(), FLContext()).data["layer"]
