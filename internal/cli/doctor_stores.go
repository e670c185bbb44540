package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lyceum/internal/blob/s3"
	"lyceum/internal/config"
	"lyceum/internal/ledger/postgres"
	"lyceum/internal/view"
)

// offClock is from what on the clock of the ledger's database is said to be another than this machine's.
const offClock = time.Second

// place finds out where quests are kept. A mistake in config.yaml is told where models are looked at.
func (d *doctor) place() error {
	home, err := config.Home(d.homeFlag)
	if err != nil {
		return nil // told where the home is looked at
	}
	conf, err := config.Load(home)
	if err != nil {
		conf = nil
	}
	d.places, err = placesOf(d.ledgerFlag, conf)
	return err
}

// lookAtLedger looks at a ledger that is not in the home.
func (d *doctor) lookAtLedger(ctx context.Context) {
	if d.misplaced != nil {
		d.say(problem, "address", d.misplaced.Error(), "")
		return
	}
	if d.places.ledger == "" {
		return
	}
	h, err := postgres.Examine(ctx, d.places.ledger)
	if err != nil {
		d.say(problem, "database", err.Error(), "")
		return
	}
	d.say(fine, "database", fmt.Sprintf("%s answers; version %s", h.Name, h.Version), "")
	switch {
	case h.Format == 0:
		d.say(fine, "format", "there are no tables yet; the first quest makes them", "")
	case h.Format > h.Makes+1:
		d.say(problem, "format", fmt.Sprintf("it has format %d, and this lyceum works with formats up to %d", h.Format, h.Makes+1), "use the lyceum that wrote it or a newer one")
	case h.Format > h.Makes:
		d.say(fine, "format", fmt.Sprintf("it has format %d, the next after this lyceum's; %s", h.Format, view.Several(int64(h.Quests), "quest")), "")
	case h.Format < h.Makes:
		d.say(fine, "format", fmt.Sprintf("it has format %d; the next command that opens it brings it to format %d", h.Format, h.Makes), "")
	default:
		d.say(fine, "format", fmt.Sprintf("%d, this lyceum's; %s", h.Format, view.Several(int64(h.Quests), "quest")), "")
	}
	if h.Lacking != "" {
		d.say(problem, "rights", "the user may not read and write everything there", h.Lacking)
	} else {
		d.say(fine, "rights", "the user may read and write", "")
	}
	if h.Unsafe != nil {
		d.say(problem, "settings", h.Unsafe.Error(), "")
	} else {
		d.say(fine, "settings", "fsync, full_page_writes and synchronous_commit are on", "")
	}
	d.sayStandby(h)
	d.sayClock(h)
	d.sayNodes(h)
}

func (d *doctor) sayStandby(h *postgres.Health) {
	switch {
	case h.Named == "":
		d.say(warning, "standby", "there is no synchronous standby: with the server's disk everything is lost that no backup has", "set synchronous_standby_names, and have a standby follow; see docs/cluster.md")
	case h.Standbys == 0:
		d.say(problem, "standby", fmt.Sprintf("the server waits for a standby (%s), and none follows it: nothing is acknowledged", h.Named), "start the standby, or take it out of synchronous_standby_names")
	default:
		d.say(fine, "standby", fmt.Sprintf("commits wait for %s; %s", h.Named, view.Several(int64(h.Standbys), "standby server")), "")
	}
}

func (d *doctor) sayClock(h *postgres.Health) {
	off := h.Offset.Abs()
	if off-h.Within > offClock {
		way := "behind"
		if h.Offset < 0 {
			way = "ahead of"
		}
		d.say(warning, "clock", fmt.Sprintf("this machine's clock is %v %s the database's, by which events are stamped", off.Round(100*time.Millisecond), way), "timedatectl set-ntp true, here or on the server")
		return
	}
	d.say(fine, "clock", fmt.Sprintf("this machine's and the database's differ by %v at most", max(off+h.Within, time.Millisecond).Round(time.Millisecond)), "")
}

func (d *doctor) sayNodes(h *postgres.Health) {
	var still []string
	claims := 0
	for _, n := range h.Nodes {
		claims += n.Quests
		if n.Still {
			still = append(still, fmt.Sprint(n.ID))
		}
	}
	slices.Sort(still)
	text := fmt.Sprintf("%s with %s", view.Several(int64(len(h.Nodes)), "process"), view.Several(int64(claims), "quest"))
	switch {
	case len(h.Nodes) == 0:
		d.say(fine, "nodes", "no process has claimed a quest", "")
	case len(still) > 0:
		d.say(warning, "nodes", fmt.Sprintf("%s; without a beat for more than a second: %s", text, strings.Join(still, ", ")), "if it is dead, the next process that runs a quest gives it up after five seconds")
	default:
		d.say(fine, "nodes", text+", and all of them beat", "")
	}
	d.sayRooms(h)
	d.sayWaiting(h)
}

// shownNodes is how many nodes and quests are told one by one.
const shownNodes = 20

// sayRooms says of each node that takes quests how it is.
func (d *doctor) sayRooms(h *postgres.Health) {
	taking := slices.DeleteFunc(slices.Clone(h.Nodes), func(n postgres.NodeHealth) bool { return n.Room == 0 })
	for _, n := range taking[:min(len(taking), shownNodes)] {
		text := fmt.Sprintf("%s, lyceum %s: %s, room for %d; last beat %v ago", n.Address, n.Version, view.Several(int64(n.Quests), "quest"), n.Room, n.Silent.Round(100*time.Millisecond))
		name := fmt.Sprintf("node %d", n.ID)
		switch off := n.Ahead.Abs(); {
		case off > offClock:
			d.say(warning, name, fmt.Sprintf("%s; its clock is off by %v", text, off.Round(100*time.Millisecond)), "timedatectl set-ntp true there")
		case n.Quests >= n.Room:
			d.say(warning, name, text+"; it is full", "start another node, or this one with more --room")
		default:
			d.say(fine, name, text, "")
		}
	}
	if more := len(taking) - shownNodes; more > 0 {
		d.say(fine, "nodes", view.Several(int64(more), "more takes", "more take")+" quests", "")
	}
}

// sayWaiting tells of quests that are to run and do not.
func (d *doctor) sayWaiting(h *postgres.Health) {
	for _, s := range h.Stranded[:min(len(h.Stranded), shownNodes)] {
		d.say(warning, "stranded", fmt.Sprintf("no node can run quest %s: %s", s.Quest, strings.Join(s.Why, "; ")), "give one of the nodes what it lacks; each tries again within a minute")
	}
	if more := len(h.Stranded) - shownNodes; more > 0 {
		d.say(warning, "stranded", "no node can run "+view.Several(int64(more), "quest")+" more", "the log of lyceum serve names them")
	}
	switch rest := h.Waiting - len(h.Stranded); {
	case rest > 0:
		d.say(warning, "waiting", fmt.Sprintf("%s to run, and no node has taken %s", view.Several(int64(rest), "quest"), map[bool]string{true: "it", false: "them"}[rest == 1]), "that passes within a second if a node has room; start a node with lyceum serve")
	case h.Format >= 4:
		d.say(fine, "waiting", "no quest waits for room at a node", "")
	}
}

// lookAtBlobs tries out blobs that are not in the home.
func (d *doctor) lookAtBlobs(ctx context.Context) {
	if d.places.blobs == "" || d.misplaced != nil {
		if d.places.ledger != "" && d.misplaced == nil {
			d.say(warning, "store", "blobs are files of this home: other machines that have the same ledger do not see them", "set blobs in config.yaml to an S3 store, see docs/cluster.md; on one machine it is well as it is")
		}
		return
	}
	opts, err := s3.Parse(d.places.blobs)
	if err != nil {
		d.say(problem, "store", err.Error(), "")
		return
	}
	h, err := s3.Examine(ctx, opts)
	if err != nil {
		d.say(problem, "store", err.Error(), "")
		return
	}
	d.say(fine, "store", fmt.Sprintf("bucket %s answers; an object was written, read and deleted", opts.Bucket), "")
	kept := func(b bool) string { return map[bool]string{true: "keeps", false: "ignores"}[b] }
	d.say(fine, "strictness", fmt.Sprintf("it %s conditions and %s checksums; neither is relied on", kept(h.Conditions), kept(h.Checksums)), "")
	switch {
	case h.Encrypted != "":
		d.say(fine, "encryption", "the store says that it encrypts: "+h.Encrypted, "")
	default:
		d.say(fine, "encryption", "the store does not say that it encrypts, and was not asked to (encrypt in the address)", "")
	}
}
