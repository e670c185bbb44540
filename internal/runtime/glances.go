package runtime

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
)

// Glancer makes what a list says of a quest of its state: all of it follows from the events. Form names what is
// written; it is read by this version of the program alone.
type Glancer struct {
	Form string
	Of   func(name string, s *quest.State) ([]byte, error)
}

// FormOf names the form of a value of some type by all that it can say, so that what an older program kept,
// when a list said less, is made again: builds without a commit all have one version. A list that says something
// else in the same members needs another name.
func FormOf(name string, said any) string {
	var b strings.Builder
	shape(&b, reflect.TypeOf(said), nil)
	return name + "-" + event.HashOf([]byte(b.String())).String()[:12]
}

// shape writes what members a type has, down to its leaves.
func shape(b *strings.Builder, t reflect.Type, within []reflect.Type) {
	fmt.Fprintf(b, "%s ", t)
	if slices.Contains(within, t) {
		return
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		shape(b, t.Elem(), within)
	case reflect.Struct:
		for f := range t.Fields() {
			fmt.Fprintf(b, "%s %q ", f.Name, f.Tag)
			shape(b, f.Type, within)
		}
	}
}

// Glanced is a quest in a list: its head, and what was said of it as of that head, nil if nothing was.
type Glanced struct {
	Head ledger.Head
	Body []byte
}

// Glances returns all quests, with what is kept of them in a form. What was said of a head that has moved
// is left out, so that nothing old is ever shown.
func (r *Runtime) Glances(ctx context.Context, form string) ([]Glanced, error) {
	heads, err := r.Ledger.Quests(ctx)
	if err != nil {
		return nil, err
	}
	said := make(map[string]ledger.Glance, len(heads))
	// Without what is kept the ledgers are read: that is slow, and nothing worse.
	if list, err := r.Ledger.Glances(ctx, form, r.Version); err == nil {
		for _, g := range list {
			said[g.Quest] = g
		}
	}
	out := make([]Glanced, len(heads))
	for i, h := range heads {
		out[i].Head = h
		if g, ok := said[h.Quest]; ok && g.Hash == h.Hash {
			out[i].Body = g.Body
		}
	}
	return out, nil
}

// KeepGlances keeps what a list has said of quests that it had to read. A cache that cannot be written is
// made again.
func (r *Runtime) KeepGlances(ctx context.Context, form string, list []ledger.Glance) {
	if len(list) > 0 {
		_ = r.Ledger.PutGlances(ctx, form, r.Version, list)
	}
}

// glance keeps what lists will say of a quest whose state is at hand: it was made, or has come to rest.
func (r *Runtime) glance(ctx context.Context, name string, s *quest.State) {
	for _, g := range r.Glancers {
		if body, err := g.Of(name, s); err == nil {
			r.KeepGlances(context.WithoutCancel(ctx), g.Form, []ledger.Glance{{Quest: name, Hash: s.Hash, Body: body}})
		}
	}
}
