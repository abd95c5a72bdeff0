# make run    builds calib and calibrates a small emulated cluster of known truth
# make test   installs what the tests use, and passes the tests
GO      ?= go
BIN     := bin/calib
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
export NFPM      := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
export CYCLONEDX := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
HELM        := helm.sh/helm/v3/cmd/helm@v3.22.0
KUBECONFORM := github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0
GRAFANA     := @grafana/schema@13.2.3 typescript@5.9.3

# calib and its tests are pure Go: no C compiler is asked for.
export CGO_ENABLED := 0

SUITES := accuracy-paired accuracy-media accuracy-cluster accuracy-table accuracy-gather accuracy-tbf accuracy-simgrid accuracy-patterns accuracy-patterns-switch accuracy-ompi accuracy-coverage accuracy-card accuracy-local accuracy-tails
BUDGETS := budgets-30s budgets-2m budgets-5m

# calib --version says version, commit and date where Go can read them: in a clone, not in a worktree of git.
STAMP := $(shell test -d .git && git status --porcelain >/dev/null 2>&1 && echo -buildvcs=true)

# What calib copies to hosts: an agent for each of these processors, packed into calib.
AGENTS       := cmd/calib/internal/measuring
AGENT_ARCHS  ?= $(shell $(GO) env GOARCH)
RELEASE_ARCHS := amd64 arm64
MOST_COPIED  := 8388608 # bytes

.PHONY: run build agents release package-check chart-check dashboard-check setup test race lint lines accuracy $(SUITES) papers bench paths check watch year counts scale budgets $(BUDGETS) faults fuzz clean
.NOTPARALLEL: # the lab and the benchmarks time packets

# Without namespaces (root, or user namespaces) and TUN there is loopback alone, which has no network to calibrate. Four
# agents show whether pairs slow each other, if each has a CPU of its own; a pair is the least.
run: build
	@if $(BIN) lab run sparc1994:2 -- true >/dev/null 2>&1; then \
		$(BIN) lab run sparc1994:6 -- $(BIN) run --hosts '{hosts}' --launch '$$CALIB_LAB_LAUNCH' --truth sparc1994 --plan quick --budget 45s; \
	else \
		agents=2; test "$$(nproc)" -lt 4 || agents=4; \
		echo "No network namespaces here: $$agents agents over loopback, which tells what the hosts cost and no network."; \
		$(BIN) run --local $$agents --plan quick; \
	fi

build: agents
	$(GO) build -trimpath $(STAMP) -tags agents -o $(BIN) ./cmd/calib

# An agent is packed again where it is not what is packed already: that takes longer than all else of a second build.
agents:
	@mkdir -p bin && rm -f $(filter-out $(AGENT_ARCHS:%=$(AGENTS)/calib-agent-linux-%.gz),$(wildcard $(AGENTS)/*.gz))
	@set -e; for arch in $(AGENT_ARCHS); do \
		name=calib-agent-linux-$$arch; packed=$(AGENTS)/$$name.gz; \
		GOOS=linux GOARCH=$$arch $(GO) build -trimpath $(STAMP) -ldflags '-s -w' -o bin/$$name ./cmd/calib-agent; \
		gzip -dc $$packed 2>/dev/null | cmp -s - bin/$$name || gzip -9nc bin/$$name >$$packed; \
		test $$(wc -c <$$packed) -le $(MOST_COPIED) || { echo "$$name.gz has more than $(MOST_COPIED) bytes" >&2; exit 1; }; \
	done

# dist/: calib, with the agents of all processors in it, the agents alone, and packages of both.
release: AGENT_ARCHS = $(RELEASE_ARCHS)
release: agents
	rm -rf dist && mkdir dist
	@set -e; for arch in $(RELEASE_ARCHS); do \
		GOOS=linux GOARCH=$$arch $(GO) build -trimpath $(STAMP) -tags agents -ldflags '-s -w' -o dist/calib-linux-$$arch ./cmd/calib; \
		cp bin/calib-agent-linux-$$arch dist/; \
	done
	@$(GO) version -m dist/calib-linux-amd64 | grep -q vcs.revision || { echo "release: the build has no commit: run it in a clone, not in a worktree of git" >&2; exit 1; }
	GO='$(GO)' ./packaging/pack $(RELEASE_ARCHS)
	cd dist && sha256sum calib* >SHA256SUMS && ls -l

# What make release has made, used: in a fresh Debian, by rpm, as an image, on the other processor. Root, Debian, two minutes.
package-check:
	./packaging/check

# The chart, by Helm and by the schema of Kubernetes. Building Helm takes five minutes.
SCHEMA := internal/launch/testdata/{{.ResourceKind}}.schema.json
chart-check:
	$(GO) run $(HELM) lint --strict packaging/helm/calib
	@mkdir -p bin
	$(GO) run $(HELM) template calib packaging/helm/calib >bin/chart.yaml
	$(GO) run $(KUBECONFORM) -strict -verbose -schema-location '$(SCHEMA)' bin/chart.yaml

# The dashboard for Grafana, by Grafana's own types, which npm fetches into a directory that goes again.
dashboard-check:
	@command -v npm >/dev/null || { echo "dashboard-check: there is no npm. As root, on Debian: apt-get install npm" >&2; exit 1; }
	@work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && \
	npm install --loglevel error --no-save --no-package-lock --ignore-scripts --no-audit --no-fund --prefix "$$work" $(GRAFANA) && \
	cat packaging/dashboard.mts examples/prometheus/dashboard.json >"$$work/dashboard.mts" && \
	"$$work/node_modules/.bin/tsc" --noEmit --strict --module nodenext --skipLibCheck "$$work/dashboard.mts" && \
	echo "examples/prometheus/dashboard.json is as $(firstword $(GRAFANA)) wants it"

# What is missing for the tests is installed, or listed where it cannot be.
setup:
	@GO='$(GO)' ./scripts/setup

bin/modules: go.mod go.sum
	$(GO) mod download
	@mkdir -p $(@D) && touch $@

# What measures real packets comes last, one package after the other: the command's scripts and the lab run. A late lab is tried three times,
# which may take longer than the ten minutes that Go allows a package. Tests that were skipped are listed at the end.
ALONE := ./cmd/calib ./harness
test: setup bin/modules build
	@CALIB_SKIPPED=$$(mktemp) && export CALIB_SKIPPED && trap 'cat $$CALIB_SKIPPED; rm -f $$CALIB_SKIPPED' EXIT && \
	$(GO) test $$($(GO) list ./... | grep -vxF "$$($(GO) list $(ALONE))") && \
	$(GO) test -count=1 -p 1 -timeout 30m $(ALONE)

# The packages with goroutines, under the race detector, one at a time: it is slow, and they time packets. It needs a C compiler.
RACE := agent transport transport/sim run/coord internal/launch internal/certs internal/rundir internal/dataset internal/machine \
	internal/lab internal/lsq fit/resample run cmd/calib/internal/command cmd/calib/internal/history cmd/calib/internal/measuring
race: setup bin/modules
	@command -v gcc >/dev/null || { echo "race: the race detector needs a C compiler. As root, on Debian: apt-get install gcc libc6-dev" >&2; exit 1; }
	CGO_ENABLED=1 $(GO) test -race -p 1 -timeout 30m $(addprefix ./,$(RACE))

lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet -tags harness ./...
	GOOS=darwin $(GO) build ./...
	$(GO) run $(STATICCHECK) -tags harness ./...
	@cd internal/arch && $(GO) test -count=1 -run '^Test(Lines|Columns)$$' -args -advice -lines

# The product's lines, package by package.
lines:
	@cd internal/arch && $(GO) test -count=1 -run '^TestLines$$' -args -lines

# calib beside known truth and other programs (harness): each suite that was measured as a whole is a page of docs/results. CASES chooses
# among a suite's cases by a regular expression, such as CASES=sparc1994-8/. CALIB names the calib to measure with; of several, with commas
# between, each measures each case by turns: CALIB=old/calib,bin/calib.
HARNESS = $(GO) test -tags harness -count=1 -timeout 12h -v ./harness
CALIB   ?= $(BIN)
CASES   ?= .

# Networks of known truth in the lab, and a kernel queue of known size.
accuracy: $(SUITES)
$(SUITES): accuracy-%: build
	$(HARNESS) -run '^TestAccuracy$$/^$*$$/$(CASES)' -args -calib $(CALIB)

# Gates of healthy and of slower networks, in virtual time (CASES=sim) and in the lab.
accuracy-gate: build
	$(HARNESS) -run '^TestGate$$/$(CASES)' -args -calib $(CALIB)

# Intervals beside the truth in virtual time: quick and standard runs of every preset, 40 minutes. It times no packets.
accuracy-virtual: build
	$(HARNESS) -run '^TestVirtual$$/$(CASES)' -args -calib $(CALIB)

# The papers' tables and figures, rebuilt on formulas and from calibrations of the lab's copies of their clusters, which are run first, five
# minutes each: all, or those of CASES='sparc-trees|hku-table'. Without measuring: go test ./harness -run TestPapersPage -args -update
papers: build
	$(HARNESS) -run '^TestPapers$$/$(CASES)' -args -calib $(CALIB)

# The speed bars, beside the peers: alternating runs, medians of ratios.
bench: build
	$(HARNESS) -run '^TestBench$$/$(CASES)' -args -calib $(CALIB)

# Paths whose bottleneck is the hosts, beside iperf3, NPtcp and sockperf. TURNS is how often each is measured.
TURNS ?= 10
paths: build
	$(HARNESS) -run '^TestPaths$$/$(CASES)' -args -calib $(CALIB) -turns $(TURNS)

# calib check on emulated clusters with and without faults. TURNS=1 takes 50 minutes.
check: build
	$(HARNESS) -run '^TestCheck$$/$(CASES)' -args -calib $(CALIB) -turns $(TURNS)

# calib watch in the lab: what it costs, MINUTES long, and faults, half an hour. CASES=Cost, CASES=Faults.
MINUTES ?= 120
watch: build
	$(HARNESS) -run '^TestWatch.*$(CASES)' -args -calib $(CALIB) -minutes $(MINUTES)

# Changes of simulated years that fit/drift finds, beside a threshold and E-divisive: looks are drawn. Twenty minutes.
year:
	$(HARNESS) -run '^TestYear$$/$(CASES)'

# What people meet, in numbers: CALIB=OLD/bin/calib,bin/calib.
counts: build
	$(HARNESS) -run '^TestCounts$$' -args -calib $(CALIB)

# How the time and memory of a coordinator grow with the hosts. HOSTS=8,64 chooses.
HOSTS ?= 8,16,32,64,128,256,512,1000
scale: build
	$(HARNESS) -run '^TestScale$$' -args -calib $(CALIB) -hosts $(HOSTS)

# Whether runs keep their budget, on five networks: fifty minutes, root. Each budget has a page: budgets-30s takes 7 minutes.
budgets: $(BUDGETS)
$(BUDGETS): build
	$(HARNESS) -run '^TestBudgets$$/^$(@:budgets-%=%)$$/$(CASES)' -args -calib $(CALIB)

# Every fault in every phase of a run, on an emulated cluster: half an hour, root. CELLS chooses by a regular expression: CELLS='data cut/.*'
CELLS ?= .
faults:
	CALIB_FAULTS='$(CELLS)' $(GO) test -count=1 -run '^TestFaults$$' -timeout 3h -v ./cmd/calib

fuzz:
	./.ci/fuzz 20s

clean:
	rm -rf bin dist $(AGENTS)/*.gz
