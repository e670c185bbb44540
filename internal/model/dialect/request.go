package dialect

import (
	"maps"
	"strings"

	"lyceum/internal/model"
)

// kept is a conversation as text but for what was said last, to which more may be added. It lies in the memo
// of the agent's requests, and holds the one of the driver's.
type kept struct {
	dialect *Dialect
	// asked and tools are what prompt was made of.
	asked, prompt string
	tools         []model.Tool
	// read are messages that were read, written what they are as text, broken the calls among them that could
	// not be read and have no result yet, by id.
	read, written []model.Message
	broken        map[string]string
	memo          model.Memo
}

// Request returns r as text. It shares with r what is not changed, and with the requests before what they
// have written.
func (d *Dialect) Request(r *model.Request) *model.Request {
	k := d.kept(r)
	out := *r
	out.System, out.Tools = k.prompt, nil
	if r.Memo != nil {
		out.Memo = &k.memo
	}
	settled := len(k.written)
	out.Messages = k.written[:settled:settled]
	read, broken := len(k.read), maps.Clone(k.broken)
	for i := read; i < len(r.Messages); i++ {
		m, n := &r.Messages[i], len(out.Messages)-1
		before, begins := broken, n < 0 || out.Messages[n].Role != m.Role
		switch {
		case begins:
			out.Messages, before = append(out.Messages, model.Message{Role: m.Role}), maps.Clone(broken)
			n++
		case n < len(k.written): // no more than a guard
			r.Memo.Kept = nil
			return d.Request(r)
		}
		// What one side says in a row is one text: nobody else is to put it together.
		out.Messages[n].Parts = d.add(out.Messages[n].Parts, m.Parts, broken)
		switch {
		case len(out.Messages[n].Parts) == 0:
			out.Messages = out.Messages[:n]
		case begins: // nobody adds to what was said before
			settled, read, k.broken = n, i, before
		}
	}
	k.read, k.written = r.Messages[:read:read], out.Messages[:settled:settled]
	return &out
}

// kept is what is kept of r's conversation, as far as it still holds.
func (d *Dialect) kept(r *model.Request) *kept {
	var k *kept
	if r.Memo != nil {
		k, _ = r.Memo.Kept.(*kept)
	}
	if k == nil || k.dialect != d || !model.Begin(r.Messages, k.read) {
		k = &kept{dialect: d}
	}
	if r.Memo != nil {
		r.Memo.Kept = k
	}
	if k.broken == nil {
		k.broken = map[string]string{}
	}
	if same := len(r.Tools) == len(k.tools) && (len(r.Tools) == 0 || &r.Tools[0] == &k.tools[0]); k.prompt == "" || k.asked != r.System || !same {
		k.asked, k.tools, k.prompt = r.System, r.Tools, Break(r.System)
		if len(r.Tools) > 0 {
			k.prompt = strings.TrimLeft(k.prompt+"\n\n"+d.declare(r.Tools), "\n")
		}
	}
	return k
}
