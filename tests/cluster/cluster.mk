# The embedded KubeVirt cluster: build and run. Included by the Makefile at the root of the repository.
#
# The binaries go to $(CLUSTER_BIN), made by three Go modules of their own; Go's build cache decides what is compiled.
# LEDGERFISH_CACHE lets several clones share them.

LEDGERFISH_CACHE ?= $(CURDIR)/.cache
CLUSTER_BIN := $(LEDGERFISH_CACHE)/bin
CLUSTER_SRC := tests/cluster
CLUSTER_GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w"

.PHONY: cluster-build cluster-unit cluster

cluster-build: ## Build the embedded cluster's binaries (cold: several minutes of compiling)
	@mkdir -p $(CLUSTER_BIN)
	@start=$$(date +%s); \
	step() { printf '%4ds  building %s\n' $$(($$(date +%s) - start)) "$$1"; }; \
	set -e; \
	step "kube-apiserver, etcd and kubectl (the largest part)"; \
	(cd $(CLUSTER_SRC)/apiserver && $(CLUSTER_GO_BUILD) -o $(CLUSTER_BIN)/apiserver . && $(CLUSTER_GO_BUILD) -o $(CLUSTER_BIN)/kubectl k8s.io/kubernetes/cmd/kubectl); \
	step "virt-api, virt-controller and the nodes"; \
	(cd $(CLUSTER_SRC)/kubevirt && $(CLUSTER_GO_BUILD) -o $(CLUSTER_BIN)/ kubevirt.io/kubevirt/cmd/virt-api kubevirt.io/kubevirt/cmd/virt-controller ./cmd/boot ./cmd/node); \
	step "CDI's import controllers"; \
	(cd $(CLUSTER_SRC)/cdi && $(CLUSTER_GO_BUILD) -o $(CLUSTER_BIN)/cdi .); \
	step "the supervisor"; \
	$(CLUSTER_GO_BUILD) -o $(CLUSTER_BIN)/cluster ./$(CLUSTER_SRC)/cmd/cluster; \
	printf 'RESULT cluster-build seconds=%d\n' $$(($$(date +%s) - start))

# With the build's own flags, so that the same compiled packages serve.
cluster-unit: ## Unit tests of the embedded cluster's stub: importer, ISO reader, boot order
	cd $(CLUSTER_SRC)/kubevirt && CGO_ENABLED=0 go test -trimpath ./internal/...

cluster: cluster-build ## Run the embedded cluster until Ctrl-C [STATE=dir]
	@$(CLUSTER_BIN)/cluster $(if $(STATE),-state $(STATE))
