# make run    builds calib and calibrates four agents on this machine
# make test   installs what the tests use, and passes the tests
GO      ?= go
BIN     := bin/calib
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# calib and its tests are pure Go: no C compiler is asked for.
export CGO_ENABLED := 0

SUITES := accuracy-paired accuracy-cluster accuracy-table accuracy-gather accuracy-tbf accuracy-simgrid accuracy-patterns accuracy-patterns-switch accuracy-ompi accuracy-coverage

.PHONY: run build setup test lint lines generate accuracy $(SUITES) papers bench scale faults fuzz clean
.NOTPARALLEL: # the lab and the benchmarks time packets

run: build
	$(BIN) run --local 4 --plan quick

build:
	$(GO) build -trimpath -o $(BIN) ./cmd/calib

# What is missing for the tests is installed, or listed where it cannot be.
setup:
	@GO='$(GO)' ./scripts/setup

bin/modules: go.mod go.sum
	$(GO) mod download
	@mkdir -p $(@D) && touch $@

# The lab run comes last and alone: it times packets. Tests that were skipped are listed at the end.
LAB := calib/internal/accuracy
test: setup bin/modules build
	@CALIB_SKIPPED=$$(mktemp) && export CALIB_SKIPPED && trap 'cat $$CALIB_SKIPPED; rm -f $$CALIB_SKIPPED' EXIT && \
	$(GO) test $$($(GO) list ./... | grep -v '^$(LAB)$$') && \
	$(GO) test -count=1 $(LAB)

lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	GOOS=darwin $(GO) build ./...
	$(GO) run $(STATICCHECK) ./...
	@$(GO) run ./internal/arch -advice

# The product's lines, package by package.
lines:
	@$(GO) run ./internal/arch

generate:
	$(GO) generate ./...

# The tables of docs/RESULTS.md: recovery of known truth in the lab, over seeds and networks; and of a kernel queue's size.
accuracy: $(SUITES)
$(SUITES): accuracy-%: build
	$(GO) run ./internal/accuracy -calib $(BIN) -suite $*

# docs/PAPERS.md: the papers' tables and figures, rebuilt on formulas and from calibrations of the lab's copies of their clusters, which are run
# first, five minutes each: all, or those of RUNS=sparc-trees,hku-table. Without measuring: go run ./internal/papers
papers: build
	$(GO) run ./internal/papers -measure -runs '$(RUNS)' -calib $(BIN)

# The speed bars, beside the peers: alternating runs, medians of ratios.
bench: build
	$(GO) run ./internal/benchcmp

# How the time and memory of a coordinator grow with the hosts: a table, and the plots of docs.
scale: build
	$(GO) run ./internal/scale -calib $(BIN) -svg docs

# Every fault in every phase of a run, on an emulated cluster: half an hour, root. CELLS chooses by a regular expression: CELLS='data cut/.*'
CELLS ?= .
faults:
	CALIB_FAULTS='$(CELLS)' $(GO) test -count=1 -run '^TestFaults$$' -timeout 3h -v ./cmd/calib

fuzz:
	./.ci/fuzz 20s

clean:
	rm -rf bin
