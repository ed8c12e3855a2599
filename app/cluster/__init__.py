"""One simulated cluster: store, API server, controllers, kubelets, scheduler processes."""
