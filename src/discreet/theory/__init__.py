"""The definitions and theorems of differential privacy, executable.

State a mechanism, a query or a prior, and get the exact number: a rational, a logarithm that
compares exactly, or a real known to as many bits as are asked for.

>>> from discreet.theory import Channel, Mean
>>> Channel([["3/4", "1/4"], ["1/4", "3/4"]]).epsilon()
ln(3)
>>> Mean(size=100, bounds=(0, 150)).l1("change_one")
Fraction(3, 2)

Names are loaded when first used: noise and mechanisms need two files of this folder, and their
users should not wait for all of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.theory.accuracy import GaussianNoise, GeometricNoise, LaplaceNoise, Noise
    from discreet.theory.adjacency import (
        all_pairs,
        components,
        distance,
        neighbours_of,
        pairs,
        within,
    )
    from discreet.theory.ball_channels import BallChannel, BallVerdict, Enclosure
    from discreet.theory.bayes import (
        alike_prior,
        approaching_prior,
        belief,
        belief_change,
        belief_distance,
        conditional_supremum,
        epsilon_of_belief_distance,
        given_others,
        independent_prior,
        joint_supremum,
        largest_belief_distance,
        posterior,
        textbook_epsilon_of_belief_distance,
    )
    from discreet.theory.channels import Channel
    from discreet.theory.combinations import After, Before, Together
    from discreet.theory.contributions import GroupBounded, GroupedRows, RowBounded
    from discreet.theory.databases import (
        Histogram,
        all_bags,
        all_rows,
        by_unit,
        to_histogram,
        to_rows,
        unit_universe,
    )
    from discreet.theory.distributions import distribution
    from discreet.theory.divergences import (
        gaussian_delta,
        hockey_stick,
        kl_divergence,
        laplace_delta,
        likelihood_ratio,
        max_divergence,
        statistical_difference,
    )
    from discreet.theory.guarantees import (
        Guarantee,
        compose,
        compose_advanced,
        compose_parts,
        guarantee_of_rho,
        rho_for_group,
        rho_of_pure,
    )
    from discreet.theory.linkage import (
        Averages,
        Patient,
        PrivateHospital,
        Totals,
        averages,
        deduce,
        totals,
    )
    from discreet.theory.losses import INFINITY, Log, ln, loss
    from discreet.theory.neighbours import Relation, relation
    from discreet.theory.planning import (
        SampleSize,
        TableErrors,
        central_rms_error,
        central_sample_size,
        epsilon_for_error,
        epsilon_for_rms_error,
        local_sample_size,
        table_errors,
    )
    from discreet.theory.queries import (
        Bins,
        Count,
        Linear,
        LinearAverage,
        Maximum,
        Mean,
        Median,
        Minimum,
        Proportion,
        Query,
        Scaled,
        Sum,
    )
    from discreet.theory.randomizers import (
        deterministic,
        machine_laplace,
        prints_random_row,
        randomized_response,
        subsample_release,
        truncated_geometric,
        two_coins,
    )
    from discreet.theory.response import Response
    from discreet.theory.sensitivity import BruteForce, brute_force
    from discreet.theory.simulation import Simulation, families, simulate
    from discreet.theory.witnesses import Verdict, Witness

_HOMES = {
    "After": "combinations",
    "Averages": "linkage",
    "BallChannel": "ball_channels",
    "BallVerdict": "ball_channels",
    "Before": "combinations",
    "Bins": "queries",
    "BruteForce": "sensitivity",
    "Channel": "channels",
    "Count": "queries",
    "Enclosure": "ball_channels",
    "GaussianNoise": "accuracy",
    "GeometricNoise": "accuracy",
    "GroupBounded": "contributions",
    "GroupedRows": "contributions",
    "Guarantee": "guarantees",
    "Histogram": "databases",
    "INFINITY": "losses",
    "LaplaceNoise": "accuracy",
    "Linear": "queries",
    "LinearAverage": "queries",
    "Log": "losses",
    "Maximum": "queries",
    "Mean": "queries",
    "Median": "queries",
    "Minimum": "queries",
    "Noise": "accuracy",
    "Patient": "linkage",
    "PrivateHospital": "linkage",
    "Proportion": "queries",
    "Query": "queries",
    "Relation": "neighbours",
    "Response": "response",
    "RowBounded": "contributions",
    "SampleSize": "planning",
    "Scaled": "queries",
    "Simulation": "simulation",
    "Sum": "queries",
    "TableErrors": "planning",
    "Together": "combinations",
    "Totals": "linkage",
    "Verdict": "witnesses",
    "Witness": "witnesses",
    "alike_prior": "bayes",
    "all_bags": "databases",
    "all_pairs": "adjacency",
    "all_rows": "databases",
    "approaching_prior": "bayes",
    "averages": "linkage",
    "belief": "bayes",
    "belief_change": "bayes",
    "belief_distance": "bayes",
    "brute_force": "sensitivity",
    "by_unit": "databases",
    "central_rms_error": "planning",
    "central_sample_size": "planning",
    "components": "adjacency",
    "compose": "guarantees",
    "compose_advanced": "guarantees",
    "compose_parts": "guarantees",
    "conditional_supremum": "bayes",
    "deduce": "linkage",
    "deterministic": "randomizers",
    "distance": "adjacency",
    "distribution": "distributions",
    "epsilon_for_error": "planning",
    "epsilon_for_rms_error": "planning",
    "epsilon_of_belief_distance": "bayes",
    "families": "simulation",
    "gaussian_delta": "divergences",
    "given_others": "bayes",
    "guarantee_of_rho": "guarantees",
    "hockey_stick": "divergences",
    "independent_prior": "bayes",
    "joint_supremum": "bayes",
    "kl_divergence": "divergences",
    "laplace_delta": "divergences",
    "largest_belief_distance": "bayes",
    "likelihood_ratio": "divergences",
    "ln": "losses",
    "local_sample_size": "planning",
    "loss": "losses",
    "machine_laplace": "randomizers",
    "max_divergence": "divergences",
    "neighbours_of": "adjacency",
    "pairs": "adjacency",
    "posterior": "bayes",
    "prints_random_row": "randomizers",
    "randomized_response": "randomizers",
    "relation": "neighbours",
    "rho_for_group": "guarantees",
    "rho_of_pure": "guarantees",
    "simulate": "simulation",
    "statistical_difference": "divergences",
    "subsample_release": "randomizers",
    "table_errors": "planning",
    "textbook_epsilon_of_belief_distance": "bayes",
    "to_histogram": "databases",
    "to_rows": "databases",
    "totals": "linkage",
    "truncated_geometric": "randomizers",
    "two_coins": "randomizers",
    "unit_universe": "databases",
    "within": "adjacency",
}

__all__ = [
    "INFINITY",
    "After",
    "Averages",
    "BallChannel",
    "BallVerdict",
    "Before",
    "Bins",
    "BruteForce",
    "Channel",
    "Count",
    "Enclosure",
    "GaussianNoise",
    "GeometricNoise",
    "GroupBounded",
    "GroupedRows",
    "Guarantee",
    "Histogram",
    "LaplaceNoise",
    "Linear",
    "LinearAverage",
    "Log",
    "Maximum",
    "Mean",
    "Median",
    "Minimum",
    "Noise",
    "Patient",
    "PrivateHospital",
    "Proportion",
    "Query",
    "Relation",
    "Response",
    "RowBounded",
    "SampleSize",
    "Scaled",
    "Simulation",
    "Sum",
    "TableErrors",
    "Together",
    "Totals",
    "Verdict",
    "Witness",
    "alike_prior",
    "all_bags",
    "all_pairs",
    "all_rows",
    "approaching_prior",
    "averages",
    "belief",
    "belief_change",
    "belief_distance",
    "brute_force",
    "by_unit",
    "central_rms_error",
    "central_sample_size",
    "components",
    "compose",
    "compose_advanced",
    "compose_parts",
    "conditional_supremum",
    "deduce",
    "deterministic",
    "distance",
    "distribution",
    "epsilon_for_error",
    "epsilon_for_rms_error",
    "epsilon_of_belief_distance",
    "families",
    "gaussian_delta",
    "given_others",
    "guarantee_of_rho",
    "hockey_stick",
    "independent_prior",
    "joint_supremum",
    "kl_divergence",
    "laplace_delta",
    "largest_belief_distance",
    "likelihood_ratio",
    "ln",
    "local_sample_size",
    "loss",
    "machine_laplace",
    "max_divergence",
    "neighbours_of",
    "pairs",
    "posterior",
    "prints_random_row",
    "randomized_response",
    "relation",
    "rho_for_group",
    "rho_of_pure",
    "simulate",
    "statistical_difference",
    "subsample_release",
    "table_errors",
    "textbook_epsilon_of_belief_distance",
    "to_histogram",
    "to_rows",
    "totals",
    "truncated_geometric",
    "two_coins",
    "unit_universe",
    "within",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
