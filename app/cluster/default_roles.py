"""The tables of the default roles and bindings, read by `bootstrap_rbac`.

Mirrors plugin/pkg/auth/authorizer/rbac/bootstrappolicy (policy.go, controller_policy.go, namespace_policy.go) and
cmd/kubeadm/app/phases. A role is a line with its name and, in brackets, the roles it is aggregated into; its rules are
indented: `groups | resources | verbs | names`, or `@paths | verbs`. A binding is a line: name, role, subjects.
"""

PLAIN = """
cluster-admin
  * | * | *
  @* | *
system:aggregate-to-admin [admin]
  authorization.k8s.io | localsubjectaccessreviews | create
  rbac.authorization.k8s.io | rolebindings roles | RW
system:aggregate-to-edit [edit]
  | pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy | R
  | serviceaccounts | impersonate
  | pods pods/attach pods/exec pods/portforward pods/proxy | W
  | pods/eviction | create
  | configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy | W
  | serviceaccounts/token | create
  apps | daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale | W
  autoscaling | horizontalpodautoscalers | W
  batch | cronjobs jobs | W
  extensions | daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale | W
  policy | poddisruptionbudgets | W
  networking.k8s.io | ingresses networkpolicies | W
  coordination.k8s.io | leases | RW
  resource.k8s.io | resourceclaims resourceclaimtemplates | W
system:aggregate-to-view [view]
  | configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status | R
  | bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status | R
  | namespaces | R
  discovery.k8s.io | endpointslices | R
  apps | controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status | R
  autoscaling | horizontalpodautoscalers horizontalpodautoscalers/status | R
  batch | cronjobs cronjobs/status jobs jobs/status | R
  extensions | daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale | R
  policy | poddisruptionbudgets poddisruptionbudgets/status | R
  networking.k8s.io | ingresses ingresses/status networkpolicies | R
  resource.k8s.io | resourceclaims resourceclaims/status resourceclaimtemplates | R
system:auth-delegator
  authentication.k8s.io | tokenreviews | create
  authorization.k8s.io | subjectaccessreviews | create
system:basic-user
  authorization.k8s.io | selfsubjectaccessreviews selfsubjectrulesreviews | create
  authentication.k8s.io | selfsubjectreviews | create
system:certificates.k8s.io:certificatesigningrequests:nodeclient
  certificates.k8s.io | certificatesigningrequests/nodeclient | create
system:certificates.k8s.io:certificatesigningrequests:selfnodeclient
  certificates.k8s.io | certificatesigningrequests/selfnodeclient | create
system:certificates.k8s.io:kube-apiserver-client-approver
  certificates.k8s.io | signers | approve | kubernetes.io/kube-apiserver-client
system:certificates.k8s.io:kube-apiserver-client-kubelet-approver
  certificates.k8s.io | signers | approve | kubernetes.io/kube-apiserver-client-kubelet
system:certificates.k8s.io:kubelet-serving-approver
  certificates.k8s.io | signers | approve | kubernetes.io/kubelet-serving
system:certificates.k8s.io:legacy-unknown-approver
  certificates.k8s.io | signers | approve | kubernetes.io/legacy-unknown
system:discovery
  @/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/ | get
system:heapster
  | events namespaces nodes pods | R
  extensions | deployments | R
system:kube-aggregator
  | endpoints services | R
system:kube-controller-manager
  EVENTS
  coordination.k8s.io | leases | create
  coordination.k8s.io | leases | get update | kube-controller-manager
  | secrets serviceaccounts | create
  | secrets | delete
  | configmaps namespaces secrets serviceaccounts | get
  | secrets serviceaccounts | update
  authentication.k8s.io | tokenreviews | create
  authorization.k8s.io | subjectaccessreviews | create
  * | * | LW
  | serviceaccounts/token | create
system:kube-dns
  | endpoints services | LW
system:kube-scheduler
  EVENTS
  coordination.k8s.io | leases | create
  coordination.k8s.io | leases | get list update watch | kube-scheduler
  coordination.k8s.io | leasecandidates | RW
  | nodes | R
  | pods | delete get list watch
  | bindings pods/binding | create
  | pods/status | patch update
  | replicationcontrollers services | R
  apps, extensions | replicasets | R
  apps | statefulsets | R
  policy | poddisruptionbudgets | R
  | persistentvolumeclaims persistentvolumes | R
  authentication.k8s.io | tokenreviews | create
  authorization.k8s.io | subjectaccessreviews | create
  storage.k8s.io | csinodes | R
  | namespaces | R
  storage.k8s.io | csidrivers | R
  storage.k8s.io | csistoragecapacities | R
  storage.k8s.io | volumeattachments | R
  resource.k8s.io | deviceclasses | R
  resource.k8s.io | resourceclaims | get list patch update watch
  resource.k8s.io | resourceclaims/status | get list patch update watch
  | pods/finalizers | get list patch update watch
  resource.k8s.io | resourceslices | R
system:kubelet-api-admin
  | nodes | get list watch proxy
  | nodes/configz nodes/healthz nodes/log nodes/metrics nodes/pods nodes/proxy nodes/stats | *
system:monitoring
  @/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* | get
system:node
  authentication.k8s.io | tokenreviews | create
  authorization.k8s.io | localsubjectaccessreviews subjectaccessreviews | create
  | services | R
  | nodes | create get list watch
  | nodes/status | patch update
  | nodes | patch update
  EVENTS
  | pods | R
  | pods | create delete
  | pods/status | patch update
  | pods/eviction | create
  | configmaps secrets | R
  | persistentvolumeclaims persistentvolumes | get
  | endpoints | get
  certificates.k8s.io | certificatesigningrequests | create get list watch
  coordination.k8s.io | leases | create delete get patch update
  storage.k8s.io | volumeattachments | get
  | serviceaccounts/token | create
  | persistentvolumeclaims/status | get patch update
  storage.k8s.io | csidrivers | R
  storage.k8s.io | csinodes | create delete get patch update
  node.k8s.io | runtimeclasses | R
  resource.k8s.io | resourceclaims | get
  resource.k8s.io | resourceslices | create delete deletecollection get list patch update watch
  | serviceaccounts | get
system:node-bootstrapper
  certificates.k8s.io | certificatesigningrequests | create get list watch
system:node-problem-detector
  | nodes | get
  | nodes/status | patch
  EVENTS
system:node-proxier
  | endpoints services | LW
  | nodes | R
  EVENTS
  discovery.k8s.io | endpointslices | LW
  networking.k8s.io | servicecidrs | LW
system:persistent-volume-provisioner
  | persistentvolumes | create delete get list watch
  | persistentvolumeclaims | get list update watch
  storage.k8s.io | storageclasses | R
  | events | create patch update watch
system:public-info-viewer
  @/healthz /livez /readyz /version /version/ | get
system:service-account-issuer-discovery
  @/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/ | get
system:volume-scheduler
  | persistentvolumes | get list patch update watch
  storage.k8s.io | storageclasses | R
  | persistentvolumeclaims | get list patch update watch
"""  # noqa: E501 (a line is a rule)
CONTROLLERS = """
attachdetach-controller
  | persistentvolumeclaims persistentvolumes | LW
  | nodes | R
  | nodes/status | patch update
  | pods | LW
  EVENTS
  storage.k8s.io | volumeattachments | create delete get list watch
  storage.k8s.io | csidrivers csinodes | R
certificate-controller
  certificates.k8s.io | certificatesigningrequests | delete get list watch
  certificates.k8s.io | certificatesigningrequests/approval certificatesigningrequests/status | update
  authorization.k8s.io | subjectaccessreviews | create
  EVENTS
clusterrole-aggregation-controller
  rbac.authorization.k8s.io | clusterroles | escalate get list patch update watch
cronjob-controller
  batch | cronjobs | get list update watch
  batch | jobs | create delete get list patch update watch
  batch | cronjobs/status | update
  batch | cronjobs/finalizers | update
  | pods | delete list
  EVENTS
daemon-set-controller
  apps, extensions | daemonsets | get list watch
  apps, extensions | daemonsets/status | update
  apps, extensions | daemonsets/finalizers | update
  | nodes | LW
  | pods | create delete list patch watch
  | pods/binding | create
  apps | controllerrevisions | create delete get list patch update watch
  EVENTS
deployment-controller
  apps, extensions | deployments | get list update watch
  apps, extensions | deployments/status | update
  apps, extensions | deployments/finalizers | update
  apps, extensions | replicasets | create delete get list patch update watch
  | pods | get list update watch
  EVENTS
disruption-controller
  apps, extensions | deployments | R
  apps, extensions | replicasets | R
  | replicationcontrollers | R
  policy | poddisruptionbudgets | R
  apps | statefulsets | R
  policy | poddisruptionbudgets/status | update
  | pods/status | patch update
  * | */scale | get
  EVENTS
endpoint-controller
  | pods services | R
  | endpoints | create delete get list update
  | endpoints/restricted | create
  EVENTS
endpointslice-controller
  | nodes pods services | R
  | services/finalizers | update
  discovery.k8s.io | endpointslices | create delete get list update
  EVENTS
endpointslicemirroring-controller
  | endpoints services | R
  | endpoints/finalizers | update
  | services/finalizers | update
  discovery.k8s.io | endpointslices | create delete get list update
  EVENTS
ephemeral-volume-controller
  | pods | R
  | pods/finalizers | update
  | persistentvolumeclaims | create get list watch
  EVENTS
expand-controller
  | persistentvolumes | get list patch update watch
  | persistentvolumeclaims/status | patch update
  | persistentvolumeclaims | R
  EVENTS
generic-garbage-collector
  * | * | delete get list patch update watch
  EVENTS
horizontal-pod-autoscaler
  autoscaling | horizontalpodautoscalers | R
  autoscaling | horizontalpodautoscalers/status | update
  * | */scale | get update
  | pods | list
  metrics.k8s.io | pods | list
  custom.metrics.k8s.io | * | get list
  external.metrics.k8s.io | * | get list
  EVENTS
job-controller
  batch | jobs | get list patch update watch
  batch | jobs/status | update
  batch | jobs/finalizers | update
  | pods | create delete list patch watch
  EVENTS
legacy-service-account-token-cleaner
  | configmaps | get | kube-apiserver-legacy-service-account-token-tracking
  | secrets | delete patch
namespace-controller
  | namespaces | delete get list watch
  | namespaces/finalize namespaces/status | update
  * | * | delete deletecollection get list
node-controller
  | nodes | delete get list patch update
  | nodes/status | patch update
  | pods/status | patch update
  | pods | delete list
  EVENTS
persistent-volume-binder
  | persistentvolumes | create delete get list update watch
  | persistentvolumes/status | update
  | persistentvolumeclaims | get list update watch
  | persistentvolumeclaims/status | update
  | pods | create delete get list watch
  storage.k8s.io | storageclasses | R
  | nodes | get list
  EVENTS
pod-garbage-collector
  | pods | delete list watch
  | nodes | get list
  | pods/status | patch
pv-protection-controller
  | persistentvolumes | get list update watch
  EVENTS
pvc-protection-controller
  | persistentvolumeclaims | get list update watch
  | pods | R
  EVENTS
replicaset-controller
  apps, extensions | replicasets | get list update watch
  apps, extensions | replicasets/status | update
  apps, extensions | replicasets/finalizers | update
  | pods | create delete list patch watch
  EVENTS
replication-controller
  | replicationcontrollers | get list update watch
  | replicationcontrollers/status | update
  | replicationcontrollers/finalizers | update
  | pods | create delete list patch watch
  EVENTS
resource-claim-controller
  | pods | R
  | pods/finalizers | update
  resource.k8s.io | resourceclaims | create delete get list watch
  resource.k8s.io | resourceclaimtemplates | R
  resource.k8s.io | resourceclaims resourceclaims/status | patch update
  | pods/status | patch update
  EVENTS
resourcequota-controller
  * | * | LW
  | resourcequotas/status | update
  EVENTS
root-ca-cert-publisher
  | configmaps | create update
  EVENTS
route-controller
  | nodes | LW
  | nodes/status | patch
  EVENTS
selinux-warning-controller
  | persistentvolumeclaims persistentvolumes pods | R
  storage.k8s.io | csidrivers | R
  EVENTS
service-account-controller
  | serviceaccounts | create
  EVENTS
service-cidrs-controller
  networking.k8s.io | servicecidrs | get list patch update watch
  networking.k8s.io | servicecidrs/finalizers servicecidrs/status | patch update
  networking.k8s.io | ipaddresses | R
  EVENTS
service-controller
  | services | R
  | services/status | patch update
  | nodes | LW
  EVENTS
statefulset-controller
  | pods | R
  apps | statefulsets | R
  apps | statefulsets/status | update
  apps | statefulsets/finalizers | update
  | pods | create delete get patch update
  apps | controllerrevisions | create delete get list patch update watch
  | persistentvolumeclaims | create get
  EVENTS
  | persistentvolumeclaims | delete update
ttl-after-finished-controller
  batch | jobs | delete get list watch
  EVENTS
ttl-controller
  | nodes | list patch update watch
  EVENTS
validatingadmissionpolicy-status-controller
  admissionregistration.k8s.io | validatingadmissionpolicies | R
  admissionregistration.k8s.io | validatingadmissionpolicies/status | get patch update
  EVENTS
"""
KUBEADM = """
kubeadm:get-nodes
  | nodes | get
system:coredns
  | endpoints services pods namespaces | LW
  discovery.k8s.io | endpointslices | LW
"""
NAMESPACED = """
kube-system/extension-apiserver-authentication-reader
  | configmaps | R | extension-apiserver-authentication
kube-system/system::leader-locking-kube-controller-manager
  | configmaps | watch
  | configmaps | get update | kube-controller-manager
kube-system/system::leader-locking-kube-scheduler
  coordination.k8s.io | leases | watch
  coordination.k8s.io | leases | get update | kube-scheduler
kube-system/system:controller:bootstrap-signer
  | secrets | R
kube-system/system:controller:cloud-provider
  | configmaps | create get list watch
kube-system/system:controller:token-cleaner
  | secrets | delete get list watch
  EVENTS
kube-public/system:controller:bootstrap-signer
  | configmaps | R
  | configmaps | update | cluster-info
  EVENTS
"""
KUBEADM_NAMESPACED = """
kube-public/kubeadm:bootstrap-signer-clusterinfo
  | configmaps | get | cluster-info
kube-system/kube-proxy
  | configmaps | get | kube-proxy
kube-system/kubeadm:kubelet-config
  | configmaps | get | kubelet-config
kube-system/kubeadm:nodes-kubeadm-config
  | configmaps | get | kubeadm-config
"""
TOKENS = "group/system:bootstrappers:kubeadm:default-node-token"
CLUSTER_BINDINGS = """
cluster-admin cluster-admin group/system:masters
system:basic-user system:basic-user group/system:authenticated
system:discovery system:discovery group/system:authenticated
system:kube-controller-manager system:kube-controller-manager user/system:kube-controller-manager
system:kube-dns system:kube-dns account/kube-system/kube-dns
system:kube-scheduler system:kube-scheduler user/system:kube-scheduler
system:monitoring system:monitoring group/system:monitoring
system:node system:node
system:node-proxier system:node-proxier user/system:kube-proxy
system:public-info-viewer system:public-info-viewer group/system:authenticated group/system:unauthenticated
system:service-account-issuer-discovery system:service-account-issuer-discovery group/system:serviceaccounts
system:volume-scheduler system:volume-scheduler user/system:kube-scheduler
"""
KUBEADM_BINDINGS = f"""
kubeadm:cluster-admins cluster-admin group/kubeadm:cluster-admins
kubeadm:get-nodes kubeadm:get-nodes {TOKENS}
kubeadm:kubelet-bootstrap system:node-bootstrapper {TOKENS}
kubeadm:node-autoapprove-bootstrap system:certificates.k8s.io:certificatesigningrequests:nodeclient {TOKENS}
kubeadm:node-autoapprove-certificate-rotation system:certificates.k8s.io:certificatesigningrequests:selfnodeclient group/system:nodes
kubeadm:node-proxier system:node-proxier account/kube-system/kube-proxy
system:coredns system:coredns account/kube-system/coredns
"""  # noqa: E501 (a line is a rule)
MANAGERS = "user/system:kube-controller-manager user/system:kube-scheduler"
BINDINGS = f"""
kube-system/system::extension-apiserver-authentication-reader extension-apiserver-authentication-reader {MANAGERS}
kube-system/system::leader-locking-kube-controller-manager system::leader-locking-kube-controller-manager user/system:kube-controller-manager account/kube-system/kube-controller-manager
kube-system/system::leader-locking-kube-scheduler system::leader-locking-kube-scheduler user/system:kube-scheduler account/kube-system/kube-scheduler
kube-system/system:controller:bootstrap-signer system:controller:bootstrap-signer account/kube-system/bootstrap-signer
kube-system/system:controller:cloud-provider system:controller:cloud-provider account/kube-system/cloud-provider
kube-system/system:controller:token-cleaner system:controller:token-cleaner account/kube-system/token-cleaner
kube-public/system:controller:bootstrap-signer system:controller:bootstrap-signer account/kube-system/bootstrap-signer
"""  # noqa: E501 (a line is a rule)
KUBEADM_NAMESPACED_BINDINGS = f"""
kube-public/kubeadm:bootstrap-signer-clusterinfo kubeadm:bootstrap-signer-clusterinfo user/system:anonymous
kube-system/kube-proxy kube-proxy {TOKENS}
kube-system/kubeadm:kubelet-config kubeadm:kubelet-config group/system:nodes {TOKENS}
kube-system/kubeadm:nodes-kubeadm-config kubeadm:nodes-kubeadm-config {TOKENS} group/system:nodes
"""
