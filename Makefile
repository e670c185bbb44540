# make test    everything that must hold, set-up included
# make check   what of it can be known in a minute
# make bench   the figures of docs/performance.md, as ratios in one run
# make web     the page: its built files in web/dist, which are committed
# make fuzz    every fuzz test for a minute each; FUZZTIME=10s for less
# make release VERSION=0.2.0   archives for strangers, with checksums, in bin/release
# make reproducible            a release of what is committed, built twice and compared
# make pictures  those of the README, by Chromium
# make generate, build, clean

.PHONY: test check bench build web pictures generate fuzz release reproducible clean

test:
	@scripts/setup
	@scripts/test

check:
	@scripts/test check

bench:
	go -C bench run .

build:
	CGO_ENABLED=0 go build -trimpath -o bin/lyceum ./cmd/lyceum

web:
	cd web && npm ci --no-audit --no-fund && npm run build

pictures:
	go -C web/tests run ./screenshots

generate:
	go run ./internal/event/eventdoc
	go run ./internal/quest/questschema > docs/quest.schema.json
	go run ./internal/notice/gather

release:
	@go run ./scripts/release $(VERSION)

reproducible:
	@scripts/reproducible

FUZZTIME ?= 60s
fuzz:
	@grep -rHoE '^func Fuzz[A-Za-z]+' --include='*_test.go' internal | while IFS=: read -r file func; do \
		echo "== $${func#func } of $$(dirname "$$file")"; \
		go test -run '^$$' -fuzz "^$${func#func }$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "./$$(dirname "$$file")" || exit 1; \
	done

clean:
	rm -rf bin
