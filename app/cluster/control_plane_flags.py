"""The flags that the programs of a control plane know in 1.35 (cmd/kube-apiserver/app/options, cmd/…, etcd 3.6)."""

from __future__ import annotations

_COMMON = """
allow-metric-labels allow-metric-labels-manifest authorization-always-allow-paths authentication-kubeconfig
authentication-skip-lookup authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure
authorization-kubeconfig authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
bind-address cert-dir client-ca-file contention-profiling disable-http2-serving disabled-metrics emulated-version
feature-gates help http2-max-streams-per-connection kube-api-burst kube-api-content-type kube-api-qps kubeconfig
leader-elect leader-elect-lease-duration leader-elect-renew-deadline leader-elect-resource-lock
leader-elect-resource-name leader-elect-resource-namespace leader-elect-retry-period log-flush-frequency
log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream logging-format master
min-compatibility-version permit-address-sharing permit-port-sharing profiling requestheader-allowed-names
requestheader-client-ca-file requestheader-extra-headers-prefix requestheader-group-headers requestheader-uid-headers
requestheader-username-headers secure-port show-hidden-metrics-for-version tls-cert-file tls-cipher-suites
tls-curve-preferences tls-min-version tls-private-key-file tls-sni-cert-key v version vmodule
"""
_API_SERVER = """
admission-control admission-control-config-file advertise-address aggregator-reject-forwarding-redirects
allow-privileged anonymous-auth api-audiences apiserver-count audit-log-batch-buffer-size audit-log-batch-max-size
audit-log-batch-max-wait audit-log-batch-throttle-burst audit-log-batch-throttle-enable audit-log-batch-throttle-qps
audit-log-compress audit-log-format audit-log-maxage audit-log-maxbackup audit-log-maxsize audit-log-mode
audit-log-path audit-log-truncate-enabled audit-log-truncate-max-batch-size audit-log-truncate-max-event-size
audit-log-version audit-policy-file audit-webhook-batch-buffer-size audit-webhook-batch-max-size
audit-webhook-batch-max-wait audit-webhook-batch-throttle-burst audit-webhook-batch-throttle-enable
audit-webhook-batch-throttle-qps audit-webhook-config-file audit-webhook-initial-backoff audit-webhook-mode
audit-webhook-truncate-enabled audit-webhook-truncate-max-batch-size audit-webhook-truncate-max-event-size
audit-webhook-version authentication-config authentication-token-webhook-config-file
authentication-token-webhook-version authorization-config authorization-mode authorization-policy-file
authorization-webhook-config-file authorization-webhook-version cloud-config cloud-provider
cors-allowed-origins debug-socket-path default-not-ready-toleration-seconds
default-unreachable-toleration-seconds default-watch-cache-size delete-collection-workers
disable-admission-plugins egress-selector-config-file emulation-forward-compatible enable-admission-plugins
enable-aggregator-routing enable-bootstrap-token-auth enable-garbage-collector enable-priority-and-fairness
encryption-provider-config encryption-provider-config-automatic-reload endpoint-reconciler-type etcd-cafile
etcd-certfile etcd-compaction-interval etcd-count-metric-poll-period etcd-db-metric-poll-interval
etcd-healthcheck-timeout etcd-keyfile etcd-prefix etcd-readycheck-timeout etcd-servers etcd-servers-overrides
event-ttl external-hostname goaway-chance kubelet-certificate-authority kubelet-client-certificate
kubelet-client-key kubelet-port kubelet-preferred-address-types kubelet-read-only-port kubelet-timeout
kubernetes-service-node-port lease-reuse-duration-seconds livez-grace-period max-connection-bytes-per-sec
max-mutating-requests-inflight max-requests-inflight min-request-timeout oidc-ca-file oidc-client-id
oidc-groups-claim oidc-groups-prefix oidc-issuer-url oidc-required-claim oidc-signing-algs oidc-username-claim
oidc-username-prefix peer-advertise-ip peer-advertise-port peer-ca-file proxy-client-cert-file
proxy-client-key-file request-timeout runtime-config runtime-config-emulation-forward-compatible
service-account-extend-token-expiration service-account-issuer service-account-jwks-uri service-account-key-file
service-account-lookup service-account-max-token-expiration service-account-signing-endpoint
service-account-signing-key-file service-cluster-ip-range service-node-port-range shutdown-delay-duration
shutdown-send-retry-after shutdown-watch-termination-grace-period storage-backend
storage-initialization-timeout storage-media-type strict-transport-security-directives token-auth-file
tracing-config-file watch-cache watch-cache-sizes
"""
_MANAGER = """
allocate-node-cidrs allow-untagged-cloud attach-detach-reconcile-sync-period cidr-allocator-type cloud-config
cloud-provider cloud-provider-gce-lb-src-cidrs cluster-cidr cluster-name cluster-signing-cert-file
cluster-signing-duration cluster-signing-key-file cluster-signing-kube-apiserver-client-cert-file
cluster-signing-kube-apiserver-client-key-file cluster-signing-kubelet-client-cert-file
cluster-signing-kubelet-client-key-file cluster-signing-kubelet-serving-cert-file
cluster-signing-kubelet-serving-key-file cluster-signing-legacy-unknown-cert-file
cluster-signing-legacy-unknown-key-file concurrent-cron-job-syncs concurrent-daemonset-syncs
concurrent-deployment-syncs concurrent-endpoint-syncs concurrent-ephemeralvolume-syncs concurrent-gc-syncs
concurrent-horizontal-pod-autoscaler-syncs concurrent-job-syncs concurrent-namespace-syncs concurrent-rc-syncs
concurrent-replicaset-syncs concurrent-resource-quota-syncs concurrent-service-endpoint-syncs
concurrent-service-syncs concurrent-serviceaccount-token-syncs concurrent-statefulset-syncs
concurrent-ttl-after-finished-syncs concurrent-validating-admission-policy-status-syncs configure-cloud-routes
controller-shutdown-timeout controller-start-interval controllers disable-attach-detach-reconcile-sync
disable-force-detach-on-timeout enable-dynamic-provisioning enable-garbage-collector enable-hostpath-provisioner
enable-leader-migration endpoint-updates-batch-period endpointslice-updates-batch-period
external-cloud-volume-plugin flex-volume-plugin-dir horizontal-pod-autoscaler-cpu-initialization-period
horizontal-pod-autoscaler-downscale-stabilization horizontal-pod-autoscaler-initial-readiness-delay
horizontal-pod-autoscaler-sync-period horizontal-pod-autoscaler-tolerance large-cluster-size-threshold
leader-migration-config legacy-service-account-token-clean-up-period max-endpoints-per-slice
min-resync-period mirroring-concurrent-service-endpoint-syncs mirroring-endpointslice-updates-batch-period
mirroring-max-endpoints-per-subset namespace-sync-period node-cidr-mask-size node-cidr-mask-size-ipv4
node-cidr-mask-size-ipv6 node-eviction-rate node-monitor-grace-period node-monitor-period node-startup-grace-period
node-sync-period pv-recycler-increment-timeout-nfs pv-recycler-minimum-timeout-hostpath
pv-recycler-minimum-timeout-nfs pv-recycler-pod-template-filepath-hostpath pv-recycler-pod-template-filepath-nfs
pv-recycler-timeout-increment-hostpath pvclaimbinder-sync-period resource-quota-sync-period root-ca-file
route-reconciliation-period secondary-node-eviction-rate service-account-private-key-file service-cluster-ip-range
terminated-pod-gc-threshold unhealthy-zone-threshold use-service-account-credentials
"""
_ETCD = """
advertise-client-urls auth-token auth-token-ttl auto-compaction-mode auto-compaction-retention backend-batch-interval
backend-batch-limit backend-bbolt-freelist-type bcrypt-cost cert-file cipher-suites client-cert-allowed-hostname
client-cert-auth client-cert-file client-crl-file client-key-file compact-hash-check-enabled
compact-hash-check-time compaction-batch-limit compaction-sleep-interval config-file corrupt-check-time cors data-dir
discovery discovery-endpoints discovery-fallback discovery-proxy discovery-srv discovery-srv-name discovery-token
distributed-tracing-address downgrade-check-time election-timeout enable-distributed-tracing enable-grpc-gateway
enable-pprof experimental-corrupt-check-time experimental-initial-corrupt-check
experimental-watch-progress-notify-interval feature-gates force-new-cluster grpc-keepalive-interval
grpc-keepalive-min-time grpc-keepalive-timeout heartbeat-interval host-whitelist initial-advertise-peer-urls
initial-cluster initial-cluster-state initial-cluster-token initial-election-tick-advance key-file
listen-client-http-urls listen-client-urls listen-metrics-urls listen-peer-urls log-format log-level log-outputs
log-rotation-config-json logger max-concurrent-streams max-learners max-request-bytes max-snapshots max-txn-ops
max-wals memory-mlock metrics name peer-auto-tls peer-cert-allowed-cn peer-cert-allowed-hostname peer-cert-file
peer-client-cert-auth peer-client-cert-file peer-client-key-file peer-crl-file peer-key-file
peer-skip-client-san-verification peer-trusted-ca-file pre-vote quota-backend-bytes raft-read-timeout
raft-write-timeout self-signed-cert-validity snapshot-catchup-entries snapshot-count socket-reuse-address
socket-reuse-port strict-reconfig-check tls-max-version tls-min-version trusted-ca-file unsafe-no-fsync v2-deprecation
version wal-dir warning-apply-duration warning-unary-request-duration watch-progress-notify-interval
"""
_SWITCHES = """
allow-privileged allocate-node-cidrs anonymous-auth audit-log-compress client-cert-auth configure-cloud-routes
contention-profiling enable-aggregator-routing enable-bootstrap-token-auth enable-garbage-collector leader-elect
peer-client-cert-auth permit-address-sharing permit-port-sharing profiling service-account-lookup
use-service-account-credentials help version auto-tls peer-auto-tls enable-pprof pre-vote
"""
API_SERVER = frozenset((_COMMON + _API_SERVER).split())
CONTROLLER_MANAGER = frozenset((_COMMON + _MANAGER).split())
ETCD = frozenset((_ETCD + " auto-tls help").split())
SWITCHES = frozenset(_SWITCHES.split())
