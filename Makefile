# Everything that a developer or a user of this repository does. `make help` lists it.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# Tests that need something that can be installed or built get it here; what is still missing is a printed skip, or a
# failure with CI=true.
include tests/cluster/cluster.mk
include tests/tests.mk

GO_FAST := ./cmd/... ./domain/... ./eventstore/... ./projections/... ./adapters/... ./tests/scenarios/... ./tests/layout ./tests/deploy ./tests/harness

.PHONY: help build test test-fast lint

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the binary, ./ledgerfish
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o ledgerfish ./cmd/ledgerfish

test: cluster-build test-fast cluster-unit test-cluster ## All tests: units, store conformance, scenarios, and everything on the embedded cluster

test-fast: ## Tests without a cluster: under a minute with a warm cache
	@start=$$(date +%s); set -e; \
	LEDGERFISH_FAST=1 go test $(GO_FAST); \
	printf 'RESULT test-fast packages=%d seconds=%d\n' $$(go list $(GO_FAST) | wc -l) $$(($$(date +%s) - start))

lint: ## gofmt, go vet (also with the tests' mutant), and the repository's own rules
	@unformatted=$$(git ls-files '*.go' | xargs gofmt -l); if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go vet -tags mutant ./projections
	go test ./tests/layout
	@echo "RESULT lint ok"
