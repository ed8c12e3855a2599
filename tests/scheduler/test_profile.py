"""Profiles built from a KubeSchedulerConfiguration, and what is wrong with others."""

import pytest

from app.scheduler import configuration, registry
from app.scheduler.configuration import DEFAULT_PLUGINS, ConfigurationError
from app.scheduler.profile import build_profiles
from tests.scheduler.builders import CONFIG, config


def _names(framework, point):
    return [plugin.NAME for plugin in framework.at(point)]


def _only(*profiles, **more):
    (framework,) = build_profiles(config(*profiles, **more)).values()
    return framework


def test_without_a_configuration_the_default_profile_runs():
    (name, framework), *others = build_profiles(None).items()
    assert (name, others) == ("default-scheduler", [])
    assert _names(framework, "filter") == [
        "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
        "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
        "InterPodAffinity",
    ]  # fmt: skip
    assert _names(framework, "postFilter") == ["DynamicResources", "DefaultPreemption"]
    assert _names(framework, "queueSort") == ["PrioritySort"]
    assert _names(framework, "bind") == ["DefaultBinder"]
    weights = {name: framework.weights[name] for name in _names(framework, "score")}
    assert weights == {
        "TaintToleration": 3, "NodeAffinity": 2, "NodeResourcesFit": 1, "VolumeBinding": 1, "PodTopologySpread": 2,
        "InterPodAffinity": 2, "NodeResourcesBalancedAllocation": 1, "ImageLocality": 1,
    }  # fmt: skip


def test_every_default_plugin_is_built():
    assert {name for name, _ in DEFAULT_PLUGINS} == set(registry.PLUGINS)


def test_plugins_named_for_a_point_run_before_those_of_multi_point():
    plugins = {"score": {"enabled": [{"name": "ImageLocality", "weight": 7}]}}
    framework = _only({"plugins": plugins})
    assert _names(framework, "score")[0] == "ImageLocality"
    assert _names(framework, "score").count("ImageLocality") == 1
    assert framework.weights["ImageLocality"] == 7


def test_a_plugin_disabled_and_enabled_again_runs_once_with_its_new_weight():
    score = {"disabled": [{"name": "NodeAffinity"}], "enabled": [{"name": "NodeAffinity", "weight": 9}]}
    framework = _only({"plugins": {"score": score}})
    assert _names(framework, "score")[-1] == "NodeAffinity"
    assert framework.weights["NodeAffinity"] == 9


def test_a_star_switches_everything_off_at_a_point_but_what_is_enabled_there():
    score = {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit"}]}
    framework = _only({"plugins": {"score": score}})
    assert _names(framework, "score") == ["NodeResourcesFit"]
    assert "NodeResourcesFit" in _names(framework, "filter")


def test_multi_point_replaces_in_place_and_disables_everywhere():
    multi = {"enabled": [{"name": "NodeAffinity", "weight": 5}], "disabled": [{"name": "TaintToleration"}]}
    framework = _only({"plugins": {"multiPoint": multi}})
    assert framework.weights["NodeAffinity"] == 5
    assert _names(framework, "filter")[:3] == ["NodeUnschedulable", "NodeName", "NodeAffinity"]
    assert "TaintToleration" not in _names(framework, "score")


def test_several_profiles_share_a_configuration():
    found = build_profiles(config({"schedulerName": "default-scheduler"}, {"schedulerName": "my-scheduler"}))
    assert sorted(found) == ["default-scheduler", "my-scheduler"]


def test_a_profile_may_look_at_fewer_nodes():
    assert _only({"percentageOfNodesToScore": 30}, percentageOfNodesToScore=50).percentage_of_nodes_to_score == 30
    assert _only({}, percentageOfNodesToScore=50).percentage_of_nodes_to_score == 50


def test_backoff_is_read():
    found = configuration.read({**CONFIG, "podInitialBackoffSeconds": 2, "podMaxBackoffSeconds": 20})
    assert (found.pod_initial_backoff_seconds, found.pod_max_backoff_seconds) == (2, 20)


def _plugins(**points):
    return {"plugins": points}


def _args(name, **args):
    return {"pluginConfig": [{"name": name, "args": args}]}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"kind": "KubeSchedulerConfiguration"}, "Object 'apiVersion' is missing"),
        ({"apiVersion": CONFIG["apiVersion"]}, "Object 'Kind' is missing"),
        ({**CONFIG, "apiVersion": "kubescheduler.config.k8s.io/v1beta3"}, 'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3"'),
        ({**CONFIG, "kind": "SchedulerConfig"}, 'no kind "SchedulerConfig" is registered'),
        ({**CONFIG, "profile": []}, 'strict decoding error: unknown field "profile"'),
        (config({"schedulername": "x"}), 'unknown field "profiles[0].schedulername"'),
        ({**CONFIG, "profiles": {}}, "cannot unmarshal object into Go struct field KubeSchedulerConfiguration.profiles of type slice"),
        ({**CONFIG, "percentageOfNodesToScore": "50"}, "cannot unmarshal string into Go struct field"),
        ({**CONFIG, "podMaxBackoffSeconds": 2**40}, "cannot unmarshal number into Go struct field"),
        ({**CONFIG, "percentageOfNodesToScore": True}, "cannot unmarshal bool into Go struct field"),
        ({**CONFIG, "percentageOfNodesToScore": 101}, "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"),
        ({**CONFIG, "parallelism": 0}, "parallelism: Invalid value: 0: should be an integer value greater than zero"),
        ({**CONFIG, "podInitialBackoffSeconds": 0}, "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"),
        ({**CONFIG, "podInitialBackoffSeconds": 20}, "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal"),
        (config({"schedulerName": "a"}, {"schedulerName": "a"}), 'profiles[1].schedulerName: Duplicate value: "a"'),
        (config({"schedulerName": "a"}, {}), "profiles[1].schedulerName: Required value"),
        (config(_plugins(filter={"enabled": [{"name": "Nonsense"}]})), 'FilterPlugin "Nonsense" does not exist'),
        (config(_plugins(multiPoint={"enabled": [{"name": "Nonsense"}]})), 'PreFilterPlugin "Nonsense" does not exist'),
        (config(_plugins(score={"enabled": [{"name": "NodeName"}]})), 'plugin "NodeName" does not extend ScorePlugin plugin'),
        (config(_plugins(filter={"enabled": [{"name": "NodeName"}, {"name": "NodeName"}]})), 'plugin "NodeName" already registered as "FilterPlugin"'),
        (config(_plugins(bind={"disabled": [{"name": "*"}]})), "at least one bind plugin is needed"),
        (config(_plugins(queueSort={"disabled": [{"name": "*"}]})), "no queue sort plugin"),
        (config(_plugins(queueSort={"enabled": [{"name": "PrioritySort"}, {"name": "PrioritySort"}]})), "only one queue sort plugin can be enabled"),
        (config({"schedulerName": "a"}, {"schedulerName": "b", **_plugins(queueSort={"enabled": [{"name": "PrioritySort"}]})}), "must be the same for all profiles"),
        (config({"pluginConfig": [{"name": "NodeAffinity"}, {"name": "NodeAffinity"}]}), 'pluginConfig[1]: Duplicate value: "NodeAffinity"'),
        (config(_args("NodeResourcesFit", kind="NodeAffinityArgs")), "were not of type NodeResourcesFitArgs"),
        (config(_args("NodeResourcesFit", scoringStrategie={})), 'unknown field "profiles[0].pluginConfig[0].args.scoringStrategie"'),
        (config(_args("NodeResourcesFit", scoringStrategy={"type": "Best"})), 'scoringStrategy.type: Unsupported value: "Best"'),
        (config(_args("NodeResourcesFit", scoringStrategy={"resources": [{"name": "cpu", "weight": 101}]})), "resource weight of cpu not in valid range [1, 100]"),
        (config(_args("NodeResourcesFit", scoringStrategy={"type": "RequestedToCapacityRatio"})), "at least one point must be specified"),
        (config(_args("NodeAffinity", addedAffinity="all")), "cannot unmarshal string into Go struct field"),
        (config(_args("PodTopologySpread", defaultConstraints=[3])), "cannot unmarshal number into Go struct field"),
        (config({"pluginConfig": [{"name": "Mine", "args": "x"}]}), "cannot unmarshal string into Go struct field"),
        (config(_args("InterPodAffinity", hardPodAffinityWeight=101)), "hardPodAffinityWeight: Invalid value: 101: not in valid range [0-100]"),
        (config(_args("PodTopologySpread", defaultingType="Some")), 'defaultingType: Unsupported value: "Some"'),
        (config(_args("PodTopologySpread", defaultConstraints=[{"maxSkew": 1}])), "when .defaultConstraints are not empty"),
        (config(_args("DefaultPreemption", minCandidateNodesPercentage=101)), "not in valid range [0, 100]"),
    ],
)  # fmt: skip
def test_a_wrong_configuration_ends_the_scheduler_with_its_reason(document, said):
    with pytest.raises(ConfigurationError) as caught:
        build_profiles(document)
    assert said in str(caught.value)


def test_null_is_as_good_as_nothing():
    plugins = {"score": None, "filter": {"enabled": None, "disabled": [None]}}
    for profile in (None, {"plugins": None, "pluginConfig": [None]}, {"plugins": plugins, "schedulerName": None}):
        assert list(build_profiles(config(profile))) == ["default-scheduler"]
    assert list(build_profiles({**CONFIG, "profiles": None, "percentageOfNodesToScore": None})) == ["default-scheduler"]


def test_a_configuration_may_name_any_plugin_of_the_real_scheduler():
    gang = {"preEnqueue": {"enabled": [{"name": "GangScheduling"}]}}
    framework = _only(_plugins(**gang))
    assert _names(framework, "preEnqueue") == ["SchedulingGates", "DynamicResources"]
    disabled = {"filter": {"disabled": [{"name": name} for name in (*registry.PLUGINS, *registry.UPSTREAM_POINTS)]}}
    assert _names(_only(_plugins(**disabled)), "filter") == []
