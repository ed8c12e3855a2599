"""Configurations of old releases: which API version each release reads, with which defaults and which errors."""

import pytest

from app.scheduler.configuration import ConfigurationError
from app.scheduler.framework import release
from app.scheduler.profile import build_profiles
from tests.scheduler.builders import attempt, node, pod

GROUP = "kubescheduler.config.k8s.io"


def document(version, *profiles, **more):
    found = {"apiVersion": f"{GROUP}/{version}", "kind": "KubeSchedulerConfiguration", **more}
    return {**found, "profiles": list(profiles)} if profiles else found


def built(version, api_version, *profiles, **more):
    (framework,) = build_profiles(document(api_version, *profiles, **more), version=version).values()
    return framework


def names(framework, point):
    return [plugin.NAME for plugin in framework.at(point)]


def error(version, configuration):
    with pytest.raises(ConfigurationError) as caught:
        build_profiles(configuration, version=version)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v1.34.1", (34, 1)),
        ("1.34", (34, 0)),
        ("v1.35.0-rc.1", (35, 0)),
        ("v1.27.3+k3s1", (27, 3)),
        ("", release.NEWEST),
        ("latest", release.NEWEST),
        ("v2.1.0", release.NEWEST),
        ("v1.٣٤", release.NEWEST),
        ("v1.9999", release.NEWEST),
    ],
)
def test_a_version_is_read_and_anything_else_is_the_newest(text, expected):
    assert release.parse(text) == expected


@pytest.mark.parametrize(
    ("api_version", "first", "last"), [("v1beta2", "v1.22.0", "v1.27.16"), ("v1beta3", "v1.23.0", "v1.28.15")]
)
def test_an_api_version_is_read_from_its_first_release_to_its_last(api_version, first, last):
    for version in (first, last):
        assert built(version, api_version).profile_name == "default-scheduler"
    for minor in (release.parse(first).minor - 1, release.parse(last).minor + 1, 35):
        said = error(f"v1.{minor}.0", document(api_version))
        assert said == (
            f'no kind "KubeSchedulerConfiguration" is registered for version "{GROUP}/{api_version}" '
            'in scheme "pkg/scheduler/apis/config/scheme/scheme.go:30"'
        )


def test_v1_is_read_since_1_25():
    assert built("v1.25.0", "v1").profile_name == "default-scheduler"
    assert f'registered for version "{GROUP}/v1"' in error("v1.24.17", document("v1"))


@pytest.mark.parametrize("version", ["v1.20.0", "v1.24.0", "v1.35.7"])
def test_without_a_file_every_release_runs_its_default_profile(version):
    assert list(build_profiles(None, version=version)) == ["default-scheduler"]


@pytest.mark.parametrize(
    ("api_version", "weights"),
    [
        ("v1beta2", {"TaintToleration": 1, "NodeAffinity": 1, "InterPodAffinity": 1, "PodTopologySpread": 2}),
        ("v1beta3", {"TaintToleration": 3, "NodeAffinity": 2, "InterPodAffinity": 2, "PodTopologySpread": 2}),
        ("v1", {"TaintToleration": 3, "NodeAffinity": 2, "InterPodAffinity": 2, "PodTopologySpread": 2}),
    ],
)
def test_each_api_version_has_its_own_default_weights(api_version, weights):
    framework = built("v1.27.0", api_version)
    assert {name: framework.weights[name] for name in weights} == weights


@pytest.mark.parametrize(
    ("version", "post_filter", "pre_enqueue"),
    [
        ("v1.26.0", ["DefaultPreemption"], []),
        ("v1.27.0", ["DefaultPreemption"], ["SchedulingGates"]),
        ("v1.33.4", ["DefaultPreemption"], ["SchedulingGates"]),
        ("v1.34.0", ["DynamicResources", "DefaultPreemption"], ["SchedulingGates", "DynamicResources"]),
    ],
)
def test_each_release_has_its_own_default_plugins(version, post_filter, pre_enqueue):
    framework = built(version, "v1")
    assert names(framework, "postFilter") == post_filter
    assert names(framework, "preEnqueue") == pre_enqueue


def test_v1beta2_replaces_weights_and_switches_off_at_a_point():
    score = {"enabled": [{"name": "NodeAffinity", "weight": 9}], "disabled": [{"name": "TaintToleration"}]}
    framework = built("v1.27.0", "v1beta2", {"plugins": {"score": score}})
    assert framework.weights["NodeAffinity"] == 9
    assert "TaintToleration" not in names(framework, "score")
    assert "TaintToleration" in names(framework, "filter")


def enabled(point, name, **more):
    return {"plugins": {point: {"enabled": [{"name": name, **more}]}}}


@pytest.mark.parametrize("name", ["AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"])
def test_the_volume_limits_of_old_releases_may_be_named_there(name):
    for version, api_version in (("v1.27.0", "v1beta2"), ("v1.28.0", "v1beta3"), ("v1.30.0", "v1")):
        assert name not in names(built(version, api_version, enabled("filter", name)), "filter")


@pytest.mark.parametrize("api_version", ["v1beta2", "v1beta3", "v1"])
@pytest.mark.parametrize(
    ("profiles", "more", "said"),
    [
        ([enabled("filter", "Nonsense")], {}, 'FilterPlugin "Nonsense" does not exist'),
        ([enabled("score", "NodeName")], {}, 'plugin "NodeName" does not extend ScorePlugin plugin'),
        ([enabled("queueSort", "PrioritySort"), enabled("queueSort", "PrioritySort")], {}, "profiles[1].schedulerName: Required value"),
        ([{"plugins": {"queueSort": {"enabled": [{"name": "PrioritySort"}, {"name": "Mine"}]}}}], {}, "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled"),
        ([{"schedulerName": "a"}, {"schedulerName": "a"}], {}, 'profiles[1].schedulerName: Duplicate value: "a"'),
        ([enabled("score", "NodeAffinity", weight="9")], {}, "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.profiles[0].plugins.score.enabled[0].weight of type int32"),
        ([enabled("score", "NodeAffinity", weight=2**31)], {}, "cannot unmarshal number into Go struct field"),
        ([{"schedulername": "a"}], {}, 'strict decoding error: unknown field "profiles[0].schedulername"'),
        ([{}], {"percentageOfNodesToScore": 101}, "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"),
    ],
)  # fmt: skip
def test_the_same_mistake_is_told_in_every_api_version(api_version, profiles, more, said):
    assert said in error("v1.27.0", document(api_version, *profiles, **more))


@pytest.mark.parametrize(
    ("version", "configuration", "said"),
    [
        ("v1.27.0", document("v1beta2", enabled("multiPoint", "NodeAffinity")), 'unknown field "profiles[0].plugins.multiPoint"'),
        ("v1.27.0", document("v1beta3", {"percentageOfNodesToScore": 3}), 'unknown field "profiles[0].percentageOfNodesToScore"'),
        ("v1.27.0", document("v1beta3", delayCacheUntilActive=True), 'unknown field "delayCacheUntilActive"'),
        ("v1.27.0", document("v1beta3", healthzBindAddress="0.0.0.0:10251"), 'unknown field "healthzBindAddress"'),
        ("v1.27.0", document("v1beta2", healthzBindAddress="0.0.0.0:10251"), 'healthzBindAddress: Invalid value: "0.0.0.0:10251": must be empty or with an explicit 0 port'),
        ("v1.27.0", document("v1beta2", metricsBindAddress="host"), 'metricsBindAddress: Invalid value: "host"'),
        ("v1.35.0", document("v1", {"percentageOfNodesToScore": 101}), "profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"),
        ("v1.27.0", document("v1beta2", enabled("score", "NodeResourcesMostAllocated")), f'profiles[0].plugins.score.enabled[0]: Invalid value: "NodeResourcesMostAllocated": was invalid in version "{GROUP}/v1beta2" (KubeSchedulerConfiguration is version "{GROUP}/v1beta2")'),
        ("v1.27.0", document("v1beta3", enabled("filter", "NodeLabel")), f'was invalid in version "{GROUP}/v1beta2" (KubeSchedulerConfiguration is version "{GROUP}/v1beta3")'),
        ("v1.27.0", document("v1", {"pluginConfig": [{"name": "SelectorSpread"}]}), f'profiles[0].pluginConfig[0]: Invalid value: "SelectorSpread": was invalid in version "{GROUP}/v1"'),
        ("v1.35.7", document("v1", enabled("filter", "EBSLimits")), f'profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version "{GROUP}/v1"'),
        ("v1.35.7", document("v1", enabled("multiPoint", "EBSLimits")), 'PreFilterPlugin "EBSLimits" does not exist'),
        ("v1.29.0", document("v1", enabled("score", "SelectorSpread")), 'ScorePlugin "SelectorSpread" does not exist'),
    ],
)  # fmt: skip
def test_what_an_api_version_does_not_have_is_refused(version, configuration, said):
    assert said in error(version, configuration)


def test_an_address_that_asks_for_no_port_is_fine():
    framework = built("v1.27.0", "v1beta2", healthzBindAddress="0.0.0.0:0", metricsBindAddress="")
    assert framework.profile_name == "default-scheduler"


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("v1.23.17", "node(s) had taint {team: ml}, that the pod didn't tolerate"),
        ("v1.24.0", "node(s) had untolerated taint {team: ml}"),
        ("1.34", "node(s) had untolerated taint {team: ml}"),
        ("v1.34.1", "node(s) had untolerated taint {team: ml}"),
        ("v1.34.2", "node(s) had untolerated taint(s)"),
        ("v1.35.0", "node(s) had untolerated taint(s)"),
        ("", "node(s) had untolerated taint(s)"),
    ],
)
def test_a_rejection_by_a_taint_is_told_in_the_words_of_the_release(version, reason):
    (framework,) = build_profiles(None, version=version).values()
    tainted = node("n", taints=[{"key": "team", "value": "ml", "effect": "NoSchedule"}])
    result = attempt([tainted], pod("p"), framework=framework)
    assert result.message.startswith(f"0/1 nodes are available: 1 {reason}.")
    assert ("no new claims to deallocate" in result.message) == (release.parse(version).minor >= 34)


def test_a_taint_without_value_is_told_as_go_prints_it():
    (framework,) = build_profiles(None, version="v1.34.0").values()
    tainted = node("n", taints=[{"key": "k", "effect": "NoExecute"}])
    assert "1 node(s) had untolerated taint {k: }." in attempt([tainted], pod("p"), framework=framework).message


def test_two_releases_do_not_share_what_they_build():
    old, new = (build_profiles(None, version=version)["default-scheduler"] for version in ("v1.34.0", "v1.35.0"))
    assert {plugin.release for plugin in old.at("filter")} == {(34, 0)}
    assert {plugin.release for plugin in new.at("filter")} == {(35, 0)}
