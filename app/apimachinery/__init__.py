"""What every Kubernetes API needs and no kind knows (k8s.io/apimachinery): quantities, labels, errors, patches."""
