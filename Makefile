# `make` alone says what there is. Each target sets up what it needs and does nothing twice.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: setup demo test bench simulate fuzz fuzz-api budget format certs interop clean help

SWIFT ?= swift

setup: ## install what is missing of libraries and tools (Debian, Ubuntu)
	@scripts/setup

demo: setup certs ## build for release and show a call between two participants
	$(SWIFT) build -c release --product patchbay
	.build/release/patchbay demo

# Five runs: those that only compute, which take whole cores; those that keep time on sockets, a few side by side; those that play sound
# in time, two; the one that looks at the memory of the whole process; and calls over a network that is bad enough without company.
test: setup certs interop ## build everything and run all tests
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --disable-xctest --filter '^(Wire|Sockets|Identity|Store|Engine|Simulation|Fuzz|Audio|LoadTest)Tests|BadLinkTests'
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4 $(SWIFT) test --skip-build --disable-xctest \
		--filter '^GatewayTests' --skip 'GatewayTests.MemoryTests'
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=2 $(SWIFT) test --skip-build --disable-xctest \
		--filter '^(PatchbayClient|Command)Tests' --skip 'BadLinkTests|BadNetworkTests'
	$(SWIFT) test --skip-build --disable-xctest --filter '^GatewayTests.MemoryTests'
	$(SWIFT) test --skip-build --disable-xctest --filter '^CommandTests.BadNetworkTests'

bench: setup certs ## build for release and measure calls, fan-out and conversations on this machine, 2 minutes
	$(SWIFT) build -c release --product patchbay
	$(SWIFT) build -c release --product patchbay-loadtest
	$(SWIFT) build -c release --product patchbay-barge-in
	@loadtest/bench

# Worlds of the real engine in simulated time; a failure prints the seed that shows it again.
SEEDS ?= 1000
FROM ?= 1
simulate: ## play SEEDS=1000 worlds of faults on the engine, FROM=1
	$(SWIFT) build -c release --product simulate
	.build/release/simulate --seeds $(SEEDS) --from $(FROM)

# SECONDS counts the shell's own age, so the script has another name for it.
SECONDS ?= 60
fuzz: setup ## let a fuzzer loose on everything that reads bytes from outside, SECONDS=60 on each
	@SECONDS_EACH=$(SECONDS) fuzz/run

EXAMPLES ?= 50
fuzz-api: setup certs interop ## let Schemathesis loose on every HTTP route, EXAMPLES=50 of each
	$(SWIFT) build -c release --product patchbay
	@EXAMPLES=$(EXAMPLES) Tests/Interop/fuzz-api

budget: setup certs ## count system calls, allocations and bytes for each frame and connection
	$(SWIFT) build -c release --product patchbay-loadtest
	$(SWIFT) build -c release --product patchbay-budget
	.build/release/patchbay-budget

format: ## format the Swift sources in place, then hold them to the rules
	$(SWIFT) format format --in-place --parallel --recursive Package.swift Sources Tests loadtest fuzz
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests loadtest fuzz

certs: ## make the development certificates in certs/dev, unless they are good
	@certs/make-dev-certs

interop:
	@scripts/setup-interop

clean: ## remove what was built; certificates stay, somebody may trust them
	rm -rf .build .venv-interop
	find Tests -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
