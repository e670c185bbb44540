# make check   the form of the source, vet, staticcheck, quick tests: in a minute
# make test    the program, the examples and every test, set-up included
# make race    the tests of what shares memory, once more, with the race detector
# make bench   the figures of docs/performance.md, as ratios in one run
# make interop   programs of other people against us, offline; PART=gateway for one
# make web     the page: its built files in web/dist, which are committed
# make sim     500 simulated quests of each society, with a crash at every event; hours.
#              SEEDS=50 for less, SOCIETY=Contract (Lab, Solo, Architect, World) for one; 2,000 studies, by a
#              model and by a runner, STUDIES=50 for less
# make proofs  the tests that make test leaves out because each takes minutes, a sixth society for one
# make faults  what make test repeats a few times, as often as it was promised: kills at random
#              moments, signals while a computer boots, simulated worlds; an hour
# make fuzz    every fuzz test for a minute each; FUZZTIME=10s for less
# make release VERSION=0.2.0   archives for strangers, with checksums, in bin/release
# make reproducible            a release of what is committed, built twice and compared
# make interop  programs of other people against us; a gigabyte of them. PART=acp for one
# make paper   papers set by Debian's TeX with figures by its matplotlib; installs half a gigabyte
# make image   the image of a node, by Debian's packages: lyceum:latest (scripts/image, deploy/compose.yaml)
# make pictures  those of the README, by Chromium
# make fixtures  quests of this build, which later builds must replay; when rules changed
# make generate, build, clean

.PHONY: test race check image interop paper bench build web pictures generate sim proofs faults fuzz release reproducible fixtures clean

test:
	@scripts/setup
	@scripts/test

race:
	@scripts/race

check:
	@scripts/check

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
	go run ./internal/quest/promptdoc > docs/prompts.md
	go run ./internal/notice/gather
	go run ./internal/plain/pagetable
	go run ./deploy/seccomp > deploy/seccomp.json

fixtures:
	@scripts/fixtures

release:
	@go run ./scripts/release $(VERSION)

interop:
	@scripts/interop $(PART)

paper:
	@scripts/interop paper

image:
	@scripts/image

reproducible:
	@scripts/reproducible

SEEDS ?= 500
STUDIES ?= 2000
SOCIETY ?= (Solo|Lab|Contract|Architect|World)
sim:
	CGO_ENABLED=0 LYCEUM_FAULTS=1 go test ./internal/runtime/runtimetest -run '^Test$(SOCIETY)Simulation(WithACrashAtEveryEvent)?$$' -v -timeout 24h -sim.seeds $(SEEDS)
	CGO_ENABLED=0 LYCEUM_FAULTS=1 go test ./internal/runtime/runtimetest -run '^Test(Stages|Runner)Simulation(WithACrashAtEveryEvent)?$$' -v -timeout 24h -sim.seeds $(STUDIES)

proofs:
	@scripts/proofs

faults:
	@scripts/faults

FUZZTIME ?= 60s
fuzz:
	@grep -rHoE '^func Fuzz[A-Za-z]+' --include='*_test.go' internal | while IFS=: read -r file func; do \
		echo "== $${func#func } of $$(dirname "$$file")"; \
		go test -run '^$$' -fuzz "^$${func#func }$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "./$$(dirname "$$file")" || exit 1; \
	done

clean:
	rm -rf bin
