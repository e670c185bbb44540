# make test    everything that must hold, set-up included
# make bench   the figures of docs/performance.md, as ratios in one run
# make web     the page: its built files in web/dist, which are committed
# make generate, build, fuzz, clean

.PHONY: test bench build web generate fuzz clean

test:
	@scripts/setup
	@scripts/test

bench:
	go run ./bench

build:
	CGO_ENABLED=0 go build -trimpath -o bin/lyceum ./cmd/lyceum

web:
	cd web && npm ci --no-audit --no-fund && npm run build

generate:
	go run ./internal/event/eventdoc
	go run ./internal/quest/questschema > docs/quest.schema.json

fuzz:
	go test -fuzz FuzzParse -fuzztime 60s -fuzzminimizetime 10x ./internal/event
	go test -fuzz FuzzCanonical -fuzztime 60s -fuzzminimizetime 10x ./internal/event
	go test -fuzz FuzzParseTree -fuzztime 60s ./internal/blob
	go test -fuzz FuzzImport -fuzztime 60s ./internal/crate

clean:
	rm -rf bin
