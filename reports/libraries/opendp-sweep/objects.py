# opendp 0.16.0, as built by `python -m auditor.libraries opendp`.
# ruff: noqa
# fmt: off
import opendp.measurements
import opendp.transformations
import opendp.combinators
import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib", "honest-but-curious", "floating-point")
NUMBER = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
INTEGER = dp.atom_domain(T=int), dp.absolute_distance(T=int)
RECORDS = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
BOUNDED = dp.vector_domain(dp.atom_domain(bounds=(0, 10))), dp.symmetric_distance()
SIZED = dp.vector_domain(dp.atom_domain(bounds=(0.0, 10.0), nan=False), size=5), dp.symmetric_distance()
FLOATS = dp.vector_domain(dp.atom_domain(T=float)), dp.symmetric_distance()
TEXTS = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
ORDERED = dp.vector_domain(dp.atom_domain(T=int)), dp.insert_delete_distance()
CHANGED = dp.vector_domain(dp.atom_domain(T=int), size=5), dp.change_one_distance()
SCORES = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
VECTOR = dp.vector_domain(dp.atom_domain(T=int), size=4), dp.l1_distance(T=int)
COUNTS = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
COUNTS_L1 = COUNTS, dp.l01inf_distance(dp.absolute_distance(T=int))
COUNTS_L2 = COUNTS, dp.l02inf_distance(dp.absolute_distance(T=int))
BITS = dp.bitvector_domain(max_weight=2), dp.discrete_distance()
COUNT = dp.t.make_count(*RECORDS)
FRAME = dp.t.make_split_dataframe(separator=",", col_names=["k", "n"])
KEYS, NUMBERS = (dp.t.make_select_column(key=key, TOA=str) for key in "kn")
TABLE = dp.with_margin(
    dp.lazyframe_domain([dp.series_domain("n", dp.atom_domain(T=int)), dp.series_domain("k", dp.atom_domain(T=str))]),
    dp.polars.Margin(by=[], max_length=20),
)
BY_ROWS = dp.frame_distance(dp.symmetric_distance())
PLAN = pl.LazyFrame(schema={"n": pl.Int32, "k": pl.String})
LAPLACE = dp.m.make_laplace(*INTEGER, scale=1.0)
GAUSSIAN = dp.m.make_gaussian(*INTEGER, scale=2.0)
SCORED = dp.m.make_user_measurement(
    *RECORDS,
    dp.max_divergence(),
    function=lambda data: (float(LAPLACE(len(data))), "a"),
    privacy_map=float,
    TO="(f64, ExtrinsicObject)",
)


def TWICE(asked):
    return [asked(LAPLACE), asked(LAPLACE)]

make_alp_queryable = dp.m.make_alp_queryable(*COUNTS_L1, scale=1.0, total_limit=24, value_limit=24) >> (lambda asked: [asked(k) for k in 'abc'])
make_canonical_noise = opendp.measurements.make_canonical_noise(*NUMBER, d_in=1.0, d_out=(1.0, 0.01))
make_gaussian = opendp.measurements.make_gaussian(*NUMBER, scale=1.0)
make_gaussian_threshold = opendp.measurements.make_gaussian_threshold(*COUNTS_L2, scale=1.0, threshold=10)
make_geometric = opendp.measurements.make_geometric(*INTEGER, scale=1.0)
make_laplace = opendp.measurements.make_laplace(*NUMBER, scale=1.0)
make_laplace_threshold = opendp.measurements.make_laplace_threshold(*COUNTS_L1, scale=1.0, threshold=10)
make_noise = opendp.measurements.make_noise(*NUMBER, output_measure=dp.max_divergence(), scale=1.0)
make_noise_threshold = opendp.measurements.make_noise_threshold(*COUNTS_L1, output_measure=dp.approximate(dp.max_divergence()), scale=1.0, threshold=10)
make_noisy_max = opendp.measurements.make_noisy_max(*SCORES, output_measure=dp.max_divergence(), scale=1.0)
make_noisy_top_k = opendp.measurements.make_noisy_top_k(*SCORES, output_measure=dp.max_divergence(), k=2, scale=1.0)
make_private_lazyframe = dp.m.make_private_lazyframe(TABLE, BY_ROWS, dp.max_divergence(), PLAN.select(pl.col('n').dp.sum((0, 10))), global_scale=1.0)
make_private_lazyframe_2 = dp.m.make_private_lazyframe(TABLE, BY_ROWS, dp.approximate(dp.max_divergence()), PLAN.group_by('k').agg(dp.len(scale=1.0)), threshold=10)
make_private_quantile = opendp.measurements.make_private_quantile(*RECORDS, output_measure=dp.max_divergence(), candidates=[0, 5, 10], alpha=0.5, scale=1.0)
make_randomized_response = opendp.measurements.make_randomized_response(categories=['a', 'b'], prob=0.6)
make_randomized_response_bitvec = opendp.measurements.make_randomized_response_bitvec(*BITS, f=0.5)
make_randomized_response_bool = opendp.measurements.make_randomized_response_bool(prob=0.6)
make_report_noisy_max_gumbel = opendp.measurements.make_report_noisy_max_gumbel(*SCORES, scale=1.0)
make_user_measurement = dp.m.make_user_measurement(*RECORDS, dp.max_divergence(), function=lambda data: LAPLACE(len(data)), privacy_map=float)
make_b_ary_tree = opendp.transformations.make_b_ary_tree(*VECTOR, leaf_count=4, branching_factor=2)
make_bounded_float_checked_sum = dp.t.make_bounded_float_checked_sum(size_limit=10, bounds=(0.0, 10.0))
make_bounded_float_ordered_sum = opendp.transformations.make_bounded_float_ordered_sum(size_limit=10, bounds=(0.0, 10.0))
make_bounded_int_monotonic_sum = opendp.transformations.make_bounded_int_monotonic_sum(bounds=(0, 10))
make_bounded_int_ordered_sum = opendp.transformations.make_bounded_int_ordered_sum(bounds=(0, 10))
make_bounded_int_split_sum = opendp.transformations.make_bounded_int_split_sum(bounds=(0, 10))
make_cast = dp.t.make_cast(*TEXTS, TOA=int) >> dp.t.then_impute_constant(0)
make_cast_default = opendp.transformations.make_cast_default(*RECORDS, TOA=int)
make_cast_inherent = opendp.transformations.make_cast_inherent(*RECORDS, TOA=float)
make_clamp = opendp.transformations.make_clamp(*RECORDS, bounds=(0, 10))
make_count = opendp.transformations.make_count(*RECORDS)
make_count_by = opendp.transformations.make_count_by(*RECORDS)
make_count_by_categories = opendp.transformations.make_count_by_categories(*RECORDS, categories=[0, 5])
make_count_distinct = opendp.transformations.make_count_distinct(*RECORDS)
make_create_dataframe = dp.t.make_split_records(separator=',') >> dp.t.make_create_dataframe(['k', 'n']) >> NUMBERS
make_df_cast_default = FRAME >> dp.t.then_df_cast_default('n', TIA=str, TOA=int) >> dp.t.make_select_column(key='n', TOA=int)
make_df_is_equal = FRAME >> dp.t.then_df_is_equal('k', 'a') >> dp.t.make_select_column(key='k', TOA=bool)
make_drop_null = opendp.transformations.make_drop_null(*SIZED)
make_find = dp.t.make_find(*TEXTS, categories=['a', 'b']) >> dp.t.then_impute_constant(2)
make_find_bin = opendp.transformations.make_find_bin(*RECORDS, edges=[0, 5])
make_identity = opendp.transformations.make_identity(*RECORDS)
make_impute_constant = opendp.transformations.make_impute_constant(*SIZED, constant=0)
make_impute_uniform_float = opendp.transformations.make_impute_uniform_float(*SIZED, bounds=(0, 10))
make_index = dp.t.make_find(*TEXTS, categories=['a', 'b']) >> dp.t.then_impute_constant(2) >> dp.t.then_index(['x', 'y'], 'z')
make_is_equal = opendp.transformations.make_is_equal(*RECORDS, value=0)
make_is_null = dp.t.make_is_null(*FLOATS)
make_lipschitz_float_mul = dp.t.make_lipschitz_float_mul(*NUMBER, constant=0.5, bounds=(-100.0, 100.0))
make_mean = opendp.transformations.make_mean(*SIZED)
make_metric_bounded = opendp.transformations.make_metric_bounded(*SIZED)
make_metric_unbounded = opendp.transformations.make_metric_unbounded(*CHANGED)
make_ordered_random = opendp.transformations.make_ordered_random(*RECORDS)
make_quantile_score_candidates = opendp.transformations.make_quantile_score_candidates(*RECORDS, candidates=[0, 5, 10], alpha=0.5)
make_resize = dp.t.make_resize(*RECORDS, size=5, constant=0)
make_select_column = FRAME >> dp.t.make_select_column(key='n', TOA=str)
make_sized_bounded_float_checked_sum = opendp.transformations.make_sized_bounded_float_checked_sum(size=5, bounds=(0.0, 10.0))
make_sized_bounded_float_ordered_sum = opendp.transformations.make_sized_bounded_float_ordered_sum(size=5, bounds=(0.0, 10.0))
make_sized_bounded_int_checked_sum = opendp.transformations.make_sized_bounded_int_checked_sum(size=5, bounds=(0, 10))
make_sized_bounded_int_monotonic_sum = opendp.transformations.make_sized_bounded_int_monotonic_sum(size=5, bounds=(0, 10))
make_sized_bounded_int_ordered_sum = opendp.transformations.make_sized_bounded_int_ordered_sum(size=5, bounds=(0, 10))
make_sized_bounded_int_split_sum = opendp.transformations.make_sized_bounded_int_split_sum(size=5, bounds=(0, 10))
make_split_dataframe = FRAME >> KEYS
make_split_lines = dp.t.make_split_lines()
make_split_records = dp.t.make_split_records(separator=',') >> dp.t.make_create_dataframe(['k', 'n']) >> KEYS
make_stable_lazyframe = dp.t.make_stable_lazyframe(TABLE, BY_ROWS, PLAN.filter(pl.col('n') > 3))
make_subset_by = FRAME >> dp.t.then_df_is_equal('k', 'a') >> dp.t.make_subset_by(indicator_column='k', keep_columns=['n']) >> NUMBERS
make_sum = opendp.transformations.make_sum(*SIZED)
make_sum_of_squared_deviations = opendp.transformations.make_sum_of_squared_deviations(*SIZED)
make_unordered = opendp.transformations.make_unordered(*ORDERED)
make_user_transformation = dp.t.make_user_transformation(*RECORDS, *INTEGER, function=len, stability_map=lambda d_in: d_in)
make_variance = opendp.transformations.make_variance(*SIZED)
make_adaptive_composition = dp.c.make_adaptive_composition(*INTEGER, dp.max_divergence(), d_in=1, d_mids=[1.0, 1.0]) >> TWICE
make_approximate = opendp.combinators.make_approximate(measurement=LAPLACE)
make_basic_composition = opendp.combinators.make_basic_composition(measurements=[LAPLACE, LAPLACE])
make_chain_mt = dp.c.make_chain_mt(LAPLACE, COUNT)
make_chain_pm = dp.c.make_chain_pm(dp.new_function(lambda answer: 2 * answer, TO=int), LAPLACE)
make_chain_tt = dp.c.make_chain_tt(dp.t.make_sum(*BOUNDED), dp.t.make_clamp(*RECORDS, bounds=(0, 10)))
make_composition = opendp.combinators.make_composition(measurements=[LAPLACE, LAPLACE])
make_fix_delta = opendp.combinators.make_fix_delta(measurement=dp.c.make_zCDP_to_approxDP(GAUSSIAN), delta=0.01)
make_fixed_approxDP_to_approxDP = dp.c.make_fixed_approxDP_to_approxDP(dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(GAUSSIAN), delta=0.01))
make_privacy_filter = dp.c.make_privacy_filter(dp.c.make_fully_adaptive_composition(*INTEGER, dp.max_divergence()), d_in=1, d_out=2.0) >> TWICE
make_pureDP_to_zCDP = opendp.combinators.make_pureDP_to_zCDP(measurement=LAPLACE)
make_select_private_candidate = dp.c.make_select_private_candidate(SCORED, stop_probability=0.5, threshold=3.0)
make_sequential_composition = dp.c.make_sequential_composition(*INTEGER, dp.max_divergence(), d_in=1, d_mids=[1.0, 1.0]) >> TWICE
make_zCDP_to_approxDP = opendp.combinators.make_zCDP_to_approxDP(measurement=GAUSSIAN)
