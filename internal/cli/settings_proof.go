package cli

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/config"
)

// defaultCheckpoints is after how many events there is a checkpoint.
const defaultCheckpoints = 1000

func (r *rows) proof(p config.Proof) {
	every := int64(defaultCheckpoints)
	if p.Checkpoints != 0 {
		every = p.Checkpoints
	}
	r.holds("checkpoints", "", strconv.FormatInt(every, 10), p.Checkpoints != 0)
	r.holds("witnesses", "", listed(p.Witnesses), len(p.Witnesses) > 0)
	for _, name := range slices.Sorted(maps.Keys(p.Witnesses)) {
		r.own("witnesses.*.url", name, p.Witnesses[name].URL)
		r.own("witnesses.*.public_key", name, p.Witnesses[name].PublicKey)
	}
	r.holds("timestamps", "", "", p.Timestamps != nil)
	if t := p.Timestamps; t != nil {
		r.own("timestamps.url", "", t.URL)
		r.own("timestamps.certificates", "", t.Certificates)
	}
	r.holds("witness", "", "", p.Witness != nil)
	if w := p.Witness; w != nil {
		r.own("witness.logs", "", strings.Join(w.Logs, ", "))
		r.own("witness.first_use", "", yes(w.FirstUse))
	}
}
