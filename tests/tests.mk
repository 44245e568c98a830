# The tests that need the embedded cluster, and the demo. Included by the Makefile at the root.

# The packages that share one cluster, one after the other: two cores have enough to do with one.
CLUSTER_PACKAGES := ./tests/cluster ./tests/kubevirt ./tests/store ./tests/policy ./tests/race ./tests/e2e ./tests/clients
GO_CLUSTER := go test -count=1 -p 1 -parallel 6 -timeout 20m

# with_cluster runs a command on one cluster for all of it, which ends with it. Results come last, for scripts.
define with_cluster
@state=$$(mktemp -d); results=$$state/results; touch $$results; \
exec 9> >(exec $(CLUSTER_BIN)/cluster -until-eof -state $$state/cluster > $$state/log 2>&1 || true); \
until [ -e $$state/cluster/cluster.json ]; do \
  sleep 0.5; if grep -q '^cluster: ' $$state/log; then cat $$state/log; exec 9>&-; exit 1; fi; \
done; \
LEDGERFISH_CLUSTER_STATE=$$state/cluster LEDGERFISH_RESULTS=$$results $(1); status=$$?; \
exec 9>&-; while [ -e $$state/cluster/cluster.json ]; do sleep 0.1; done; \
cat $$results; rm -rf $$state; exit $$status
endef

.PHONY: test-cluster race e2e demo

test-cluster: cluster-build ## Tests on the embedded cluster: store, policy, adapter, race, failures, clients
	$(call with_cluster,$(GO_CLUSTER) $(CLUSTER_PACKAGES))

race: cluster-build ## The mission: On right after InsertMedia, 40 machines, and the same without the gate
	$(call with_cluster,$(GO_CLUSTER) -v ./tests/race)

e2e: cluster-build ## Failures, restarts, kill -9, every run strategy, on the real cluster
	$(call with_cluster,$(GO_CLUSTER) -v ./tests/e2e)

demo: cluster-build ## Ironic's sequence on 8 machines, live [KEEP=1 leaves it running]
	@go build -o $(CLUSTER_BIN)/demo ./tests/demo
	@$(CLUSTER_BIN)/demo $(if $(KEEP),-keep)
