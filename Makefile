# make run    builds calib and calibrates four agents on this machine
# make test   passes the tests
GO      ?= go
BIN     := bin/calib
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

SUITES := accuracy-paired accuracy-cluster accuracy-table accuracy-gather accuracy-tbf accuracy-simgrid

.PHONY: run build test lint generate accuracy $(SUITES) bench fuzz clean

run: build
	$(BIN) run --local 4 --plan quick

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN) ./cmd/calib

# The lab run comes last and alone: it times packets.
LAB := calib/internal/accuracy
test: build
	$(GO) test $$($(GO) list ./... | grep -v '^$(LAB)$$')
	$(GO) test -count=1 $(LAB)

lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	GOOS=darwin $(GO) build ./...
	$(GO) run $(STATICCHECK) ./...

generate:
	$(GO) generate ./...

# The tables of docs/RESULTS.md: recovery of known truth in the lab, over seeds and networks; and of a kernel queue's size.
accuracy: $(SUITES)
$(SUITES): accuracy-%: build
	$(GO) run ./internal/accuracy -calib $(BIN) -suite $*

# The speed bars, beside the peers: alternating runs, medians of ratios.
bench: build
	CGO_ENABLED=0 $(GO) run ./internal/benchcmp

fuzz:
	./.ci/fuzz 20s

clean:
	rm -rf bin
