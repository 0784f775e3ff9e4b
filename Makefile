# `make` lists the targets. Each target installs and builds what it needs, if it is missing.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: setup setup-tests models demo test test-web test-store test-cluster test-browser screens bench bench-cluster simulate simulate-cluster fuzz fuzz-api budget format dist npm wheel test-python test-packages reference certs interop clean help

SWIFT ?= swift

setup: ## install missing libraries and tools (Debian, Ubuntu)
	@scripts/setup

setup-tests: ## also install what only the tests need: Chromium, proxies, Node.js
	@scripts/setup --tests

models: ## download the speech models of the embedded assistant, if missing
	@scripts/setup-models

# Line numbers as the only debug information, and an index without system modules: the build takes a fifth less time.
TEST_BUILD = -Xcc -g0 -Xswiftc -gline-tables-only -Xswiftc -index-ignore-system-modules

# `make test` reuses this build. A release build takes 60 % more time, and answers 100 ms earlier.
demo: setup certs ## build the gateway and run a conversation with the assistant
	@scripts/setup-models || true
	$(SWIFT) build --product patchbay $(TEST_BUILD)
	.build/debug/patchbay demo

test: setup-tests certs interop models ## build everything and run all tests
	$(SWIFT) build --build-tests $(TEST_BUILD)
	@SWIFT=$(SWIFT) Tests/run

test-web: setup-tests ## check types and run the unit tests of the web pages, a part of `make test`
	@Tests/Web/run

test-store: setup-tests ## run the tests of the store on SQLite and PostgreSQL, and of gateways on PostgreSQL, a part of `make test`
	$(SWIFT) build --build-tests $(TEST_BUILD)
	@SWIFT=$(SWIFT) Tests/run store

# Network namespaces need root; without them the partitions are left out.
test-cluster: setup-tests ## end, stop and cut off the nodes of a cluster while 300 calls go on (15 minutes)
	$(SWIFT) build -c release --product patchbay
	$(SWIFT) build -c release --product patchbay-cluster-load
	Tests/Cluster/run --patchbay .build/release/patchbay

test-browser: setup-tests certs interop models ## check the web pages in headless Chromium, a part of `make test`
	$(SWIFT) build -c release --product patchbay
	.venv-interop/bin/python Tests/Browser/browser.py

# Documents show a few of them, which docs/screens holds: copy those there that have changed.
SCREENS = out/screens
screens: setup-tests certs interop models ## check the web pages, and save screenshots of all their states in out/screens
	$(SWIFT) build -c release --product patchbay
	PATCHBAY_SCREENS=$(SCREENS) .venv-interop/bin/python Tests/Browser/browser.py
	PATCHBAY_SCREENS=$(SCREENS) .venv-interop/bin/python Tests/Browser/browser.py --measure --only "a picture of a gateway"

test-python: setup-tests models ## check style, types and tests of the Python client, a part of `make test`
	$(SWIFT) build --product patchbay $(TEST_BUILD)
	@clients/python/check

bench: setup certs ## measure calls, fan-out and conversations on this machine (2 minutes)
	$(SWIFT) build -c release --product patchbay
	$(SWIFT) build -c release --product patchbay-loadtest
	$(SWIFT) build -c release --product patchbay-barge-in
	@loadtest/bench

bench-cluster: setup-tests certs ## measure what a cluster costs: frames across nodes, records of rooms, placement of calls (5 minutes)
	$(SWIFT) build -c release --product patchbay
	$(SWIFT) build -c release --product patchbay-cluster-load
	$(SWIFT) build -c release --product patchbay-loadtest
	@loadtest/bench-cluster

# A failure prints the seed that reproduces it.
SEEDS ?= 1000
FROM ?= 1
simulate: ## run the engine in SEEDS=1000 simulated worlds with faults, starting at seed FROM=1
	$(SWIFT) build -c release --product simulate
	.build/release/simulate --seeds $(SEEDS) --from $(FROM)

simulate-cluster: ## run the decisions of several nodes in SEEDS=1000 simulated worlds with faults, starting at seed FROM=1
	$(SWIFT) build -c release --product simulate
	.build/release/simulate --cluster --seeds $(SEEDS) --from $(FROM)

# SECONDS is a special variable in bash, so the script uses another name.
SECONDS ?= 60
fuzz: setup ## fuzz everything that parses external input, SECONDS=60 per target
	@SECONDS_EACH=$(SECONDS) fuzz/run

EXAMPLES ?= 50
fuzz-api: setup certs interop ## fuzz every HTTP route with Schemathesis, EXAMPLES=50 each
	$(SWIFT) build -c release --product patchbay
	@EXAMPLES=$(EXAMPLES) Tests/Interop/fuzzing/fuzz-api

budget: setup certs ## count system calls, allocations and memory per frame and connection
	$(SWIFT) build -c release --product patchbay-loadtest
	$(SWIFT) build -c release --product patchbay-budget
	.build/release/patchbay-budget

format: ## format the Swift sources and check the style rules
	$(SWIFT) format format --in-place --parallel --recursive Package.swift Plugins Sources Tests loadtest fuzz
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Plugins Sources Tests loadtest fuzz

dist: setup ## build the release archive and the Debian package of this commit in dist/
	@SWIFT=$(SWIFT) packaging/dist

npm: setup-tests ## pack the browser library, the widget and the audio button for npm in dist/
	@packaging/npm

wheel: setup-tests ## build the wheel of the Python client in dist/
	@packaging/wheel

# Another release of Debian than this machine's builds everything in its chroot, and runs the whole suite there.
RELEASE ?=
test-packages: setup ## install, run, upgrade and remove the package in a chroot, of RELEASE=bookworm or trixie
	@SWIFT=$(SWIFT) Tests/Packages/run $(if $(RELEASE),--release $(RELEASE))

reference: ## write the tables and examples that the program declares anew
	PATCHBAY_WRITE_REFERENCE=1 $(SWIFT) test $(TEST_BUILD) --disable-xctest --filter ReferenceTests

certs: ## create the development certificate, to which certs/dev links, if missing or about to expire
	@certs/make-dev-certs

interop: ## install the Python environment of the interop tests
	@scripts/setup-interop

clean: ## remove build products; certificates are kept
	rm -rf .build .venv-interop clients/python/.venv dist
	find Tests clients -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
