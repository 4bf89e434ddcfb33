# The project's commands. `make demo` and `make test` set up what a fresh Debian machine with Rust lacks.

CARGO  ?= cargo
SHARED ?= ../shared
BIN    := target/release

.PHONY: help setup demo crds test test-fast test-slow test-cluster tools conformance lint fmt deny build build-analyzer build-collector build-scheduler bench bench-cluster clean

help: ## Show the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 18

setup: ## Install what is missing: a C compiler for BPF, and its headers.
	@./scripts/setup

demo: setup ## The main job on this host, without a cluster.
	$(CARGO) build --release --locked -p mcoctl
	$(BIN)/mcoctl demo $(DEMO_ARGS)

crds: ## The definitions of the custom resources, from their types.
	$(CARGO) run --quiet --locked -p mco-crdgen

test: test-fast test-slow ## All tests.

test-fast: setup ## Unit, table and property tests of every crate.
	$(CARGO) test --workspace --exclude mco-cluster-tests --locked

test-slow: conformance test-cluster ## The suites that need an optimised build or a cluster.

test-cluster: setup ## The tests on a real API server. TEST_ARGS goes to them, such as a name.
	@./scripts/test-cluster $(TEST_ARGS)

tools: ## Find or build kube-apiserver and etcd, into target/tools.
	@./scripts/tools

conformance: setup ## The recorded cases, those of the shared folder too where it is present.
	$(CARGO) build --release --locked -p conformance
	$(BIN)/conformance conformance/cases
	@if [ -d $(SHARED)/conformance ]; then $(BIN)/conformance $(SHARED)/conformance $(SHARED)/cases-from-the-field; \
	else echo "$(SHARED) is not here: the cases kept there are not run"; fi

lint: setup fmt ## Formatting, clippy, licences and bans.
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(MAKE) deny

fmt:
	$(CARGO) fmt --all --check

deny:
	@command -v cargo-deny >/dev/null || $(CARGO) install --debug --locked --quiet cargo-deny@0.20.2
	$(CARGO) fetch --locked
	$(CARGO) deny --offline check bans licenses sources

build: build-scheduler build-analyzer build-collector ## All binaries.

build-scheduler: ## mco-volcano-scheduler, and mcoctl, which has the same core for files.
	$(CARGO) build --release --locked -p mco-daemon -p mcoctl

build-analyzer: ## mco-analyzer.
	$(CARGO) build --release --locked -p mco-analyzer

build-collector: setup ## mco-collector.
	$(CARGO) build --release --locked -p mco-collector

bench: ## Time and memory of a cycle at 1k and 5k nodes.
	$(CARGO) build --release --locked -p conformance
	$(BIN)/bench

bench-cluster: tools ## What scheduling costs on a real API server, beside a binder that decides nothing.
	$(CARGO) build --release --locked -p mco-daemon -p mco-cluster-tests
	$(BIN)/cluster-bench $(BENCH_ARGS)

clean:
	$(CARGO) clean
