"""The real kubectl over the module's own `backend`."""

import pytest

from tests.kubeapi.binary import Kubectl
from tests.kubeapi.serving import served


@pytest.fixture(scope="module")
def kubectl(backend, tmp_path_factory):
    with served(backend) as server:
        yield Kubectl(tmp_path_factory.mktemp("home"), server)
