import pytest

from app.cluster import scheduler_options
from app.cluster.scheduler_options import OptionsError

PATH = "/etc/kubernetes/my-scheduler/config.yaml"
IMAGE = "registry.k8s.io/kube-scheduler:v1.35.7"
CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: my-scheduler
leaderElection:
  leaderElect: false
"""


def read(*flags: str, config: str | None = None, image: str = IMAGE) -> scheduler_options.Options:
    files = {} if config is None else {PATH: config}
    return scheduler_options.read(["kube-scheduler", *flags], files, image)


def test_without_flags_the_default_profile_is_served_and_the_default_lease_contended_for() -> None:
    options = read()
    assert scheduler_options.names(options) == ["default-scheduler"]
    assert (options.leader_elect, options.lease_namespace, options.lease_name) == (
        True,
        "kube-system",
        "kube-scheduler",
    )


@pytest.mark.parametrize("flags", [(f"--config={PATH}",), ("--config", PATH), (f"--config={PATH}", "--v=4")])
def test_a_configuration_names_what_is_served(flags: tuple[str, ...]) -> None:
    options = read(*flags, config=CONFIG)
    assert scheduler_options.names(options) == ["my-scheduler"]
    assert not options.leader_elect


def test_the_lease_can_be_named_in_the_file_and_by_flags() -> None:
    config = CONFIG.replace("leaderElect: false", "resourceName: mine\n  resourceNamespace: lab")
    options = read(f"--config={PATH}", config=config)
    assert (options.leader_elect, options.lease_namespace, options.lease_name) == (True, "lab", "mine")
    options = read(f"--config={PATH}", "--leader-elect-resource-name=other", "--leader-elect=false", config=config)
    assert (options.leader_elect, options.lease_name) == (False, "other")


@pytest.mark.parametrize(
    ("version", "image", "readable"),
    [
        ("v1", "v1.35.7", True),
        ("v1", "v1.24.0", False),
        ("v1beta3", "v1.28.3", True),
        ("v1beta3", "v1.29.0", False),
        ("v1beta2", "v1.27.1", True),
        ("v1beta2", "v1.28.0", False),
        ("v1alpha1", "v1.35.7", False),
    ],
)
def test_a_release_reads_the_versions_of_its_time(version: str, image: str, readable: bool) -> None:
    config = CONFIG.replace("k8s.io/v1", f"k8s.io/{version}")
    image = f"registry.k8s.io/kube-scheduler:{image}"
    if readable:
        options = read(f"--config={PATH}", config=config, image=image)
        assert scheduler_options.names(options) == ["my-scheduler"]
        return
    words = f'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/{version}"'
    with pytest.raises(OptionsError, match=words):
        read(f"--config={PATH}", config=config, image=image)


@pytest.mark.parametrize(
    ("flags", "config", "words"),
    [
        (("--config=/nowhere.yaml",), CONFIG, "open /nowhere.yaml: no such file or directory"),
        ((f"--config={PATH}",), "a: [", "couldn't get version/kind; json parse error: yaml: line"),
        ((f"--config={PATH}",), "apiVersion: v1\nkind: Pod\n", 'no kind "Pod" is registered for version "v1"'),
        ((f"--config={PATH}",), CONFIG.replace("my-scheduler", "my-scheduler\n  plugins: {score: {enabled: [{name: Nope}]}}"), "Nope"),
        ((f"--config={PATH}",), CONFIG.replace("leaderElection:\n  leaderElect: false", "leaderElection: 3"), "cannot unmarshal number into Go struct field KubeSchedulerConfiguration.leaderElection of type struct"),
        (("--scheduler-name=mine",), None, "unknown flag: --scheduler-name"),
        (("--conf=x",), None, "unknown flag: --conf"),
        (("--config",), None, "flag needs an argument: --config"),
        (("--leader-elect=perhaps",), None, 'invalid argument "perhaps" for "--leader-elect" flag'),
        (("--secure-port=x",), None, 'invalid argument "x" for "--secure-port" flag'),
        (("serve",), None, 'unknown command "serve" for "kube-scheduler"'),
    ],
)  # fmt: skip
def test_the_program_says_what_it_dies_of(flags: tuple[str, ...], config: str | None, words: str) -> None:
    with pytest.raises(OptionsError) as caught:
        read(*flags, config=config)
    assert words in str(caught.value)


def test_old_releases_know_old_flags() -> None:
    read("--scheduler-name=mine", "--port=0", image="registry.k8s.io/kube-scheduler:v1.20.0")
