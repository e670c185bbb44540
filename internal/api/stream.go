package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// stream writes a quest's events as they come. It ends with the quest, the reader or
// the server.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, name string, q eventQuery) error {
	b, done, err := s.shelf.open(r.Context(), name)
	if err != nil {
		return err
	}
	var live *acpVoice
	if q.acp {
		live = s.acpVoice(r.Context(), name)
	}
	start := &feedStart{head: b.state.Seq, after: q.after, status: b.state.Status, reason: b.state.Reason, warned: len(b.state.Warnings) > 0, rested: b.state.Rested != ""}
	start.who, start.streams = callerOf(r).key(), s.streamsOf(callerOf(r))
	done()
	if q.after > start.head {
		return badParameter("after", "there is no event %d: the last is %d", q.after, start.head)
	}
	f, leave, err := s.hub.watch(r.Context(), name, start)
	if err != nil {
		return err
	}
	defer leave()
	rd := &reader{server: s, w: w, rc: http.NewResponseController(w), feed: f, name: name, query: q, after: q.after, acp: live, who: callerOf(r), looked: s.rt.Clock()}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	// A stream is read for as long as it lasts; writes have their own limit.
	if err := rd.rc.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	w.WriteHeader(http.StatusOK)
	if err := rd.write([]byte(": lyceum\n\n")); err != nil {
		return nil // the reader has gone
	}
	rd.run(r.Context())
	return nil
}

// streamsOf is how many streams a caller may have open. The page has one for each tab, and the
// owner may have many of those, and programs besides.
func (s *Server) streamsOf(who caller) int {
	if who.Scope == owner {
		return 8 * s.opts.Streams
	}
	return s.opts.Streams
}

// reader is one who watches a quest.
type reader struct {
	server *Server
	w      http.ResponseWriter
	rc     *http.ResponseController
	feed   *feed
	name   string
	query  eventQuery
	after  uint64
	acp    *acpVoice // nil for who wants the ledger's own lines
	// who reads, and when it was last looked whether they still may.
	who    caller
	looked event.Time
	// buf is for those who do not get the feed's bytes as they are.
	buf []byte
}

// run writes until there is no reason to. What a reader that has gone is not sent is no
// failure of anybody.
func (rd *reader) run(ctx context.Context) {
	beat := time.NewTicker(rd.server.opts.Heartbeat)
	defer beat.Stop()
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	at, err := rd.catchUp(ctx)
	for err == nil {
		var list []*chunk
		var wake <-chan struct{}
		var over *ending
		list, wake, over, err = rd.feed.next(at)
		switch {
		case err != nil:
			rd.part(err)
			return
		case len(list) > 0:
			for _, c := range list {
				if err = rd.may(ctx); err == nil {
					err = rd.chunk(c)
				}
				if err != nil {
					return
				}
			}
			at += uint64(len(list))
			continue
		case over != nil:
			_ = rd.tell("end", over)
			return
		}
		select {
		case <-wake:
		case <-beat.C:
			err = rd.write([]byte(": heartbeat\n\n"))
		case <-look.C:
			err = rd.may(ctx)
		case <-ctx.Done():
			return
		case <-rd.server.hub.closing:
			return
		}
	}
}

// lookAgain is how often it is looked whether a reader's token still holds.
const lookAgain = time.Second

// errLapsed says that a reader's token was revoked, or has expired.
var errLapsed = errors.New("the token of this stream was revoked, or has expired, or the browser was signed in too long ago")

// may ends the stream of a reader whose token holds no longer, and says so to it.
func (rd *reader) may(ctx context.Context) error {
	if now := rd.server.rt.Clock(); now-rd.looked >= event.Time(lookAgain.Microseconds()) {
		rd.looked = now
		if !rd.server.guard.holds(ctx, rd.who) {
			rd.part(errLapsed)
			return errLapsed
		}
	}
	return nil
}

// catchUp writes what the feed no longer has, from the ledger, until it finds its place
// in the feed.
func (rd *reader) catchUp(ctx context.Context) (at uint64, err error) {
	for {
		at, behind := rd.feed.join(rd.after)
		if !behind {
			return at, nil
		}
		until := rd.feed.reached()
		var out chunk
		for e, err := range rd.server.rt.Ledger.Read(ctx, rd.name, rd.after+1) {
			if err != nil {
				return 0, err
			}
			out.add(eventHead(e.Seq), e.Line(), frame{seq: e.Seq, kind: e.Type, actor: e.Actor, tool: e.Tool, line: e.Line()})
			if len(out.data) > 64<<10 || e.Seq == until {
				err := rd.may(ctx)
				if err == nil {
					err = rd.chunk(&out)
				}
				if err != nil {
					return 0, err
				}
				out = chunk{data: out.data[:0], frames: out.frames[:0]}
				select {
				case <-rd.server.hub.closing:
					return 0, errClosing
				default:
				}
			}
			if e.Seq == until {
				break
			}
		}
	}
}

// chunk writes a chunk, or what the reader wants of it and has not had.
func (rd *reader) chunk(c *chunk) error {
	last, skip := rd.after, c.from(rd.after)
	for i := len(c.frames) - 1; i >= 0; i-- {
		if c.frames[i].seq > 0 {
			last = max(last, c.frames[i].seq)
			break
		}
	}
	data := c.data[skip:]
	if !rd.query.all() || rd.acp != nil {
		data = rd.pick(c, skip)
	}
	if len(data) == 0 {
		rd.after = last
		return nil
	}
	if err := rd.write(data); err != nil {
		return err
	}
	rd.after = last
	return nil
}

// pick gathers the frames that pass the filter, in the form that is wanted.
func (rd *reader) pick(c *chunk, skip int) []byte {
	rd.buf = rd.buf[:0]
	for _, fr := range c.frames {
		switch {
		case fr.at < skip:
		case fr.seq > 0 && !rd.query.match(fr.kind, fr.actor, fr.tool, fr.line):
		case rd.acp != nil && fr.seq > 0:
			rd.buf = append(rd.buf, rd.acp.event(fr.line)...)
		case rd.acp != nil:
			rd.buf = append(rd.buf, rd.acp.delta(fr.line)...)
		default:
			rd.buf = append(rd.buf, c.data[fr.at:fr.end]...)
		}
	}
	return rd.buf
}

// part tells a reader why it is cut off.
func (rd *reader) part(err error) {
	reason := "the quest cannot be read any more: " + err.Error()
	switch {
	case errors.Is(err, errCut):
		rd.server.hub.wasCut()
		reason = "you read too slowly, and what comes next is no longer at hand: connect again to go on from here"
	case errors.Is(err, errLapsed):
		reason = err.Error()
	case isGone(err):
		reason = "the quest was removed"
	}
	_ = rd.tell("cut", struct {
		Reason string `json:"reason"`
		After  uint64 `json:"after"`
	}{reason, rd.after})
}

func (rd *reader) tell(kind string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return rd.write(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, data))
}

// write sends bytes at once. A reader that leaves them unread for too long is gone.
func (rd *reader) write(data []byte) error {
	deadline := runtime.SystemClock().Time().Add(rd.server.opts.Stall) // a line's: whatever clock events are stamped by
	if err := rd.rc.SetWriteDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := rd.w.Write(data); err != nil {
		return err
	}
	return rd.rc.Flush()
}

// eventQuery says which events are wanted.
type eventQuery struct {
	after, before uint64
	limit         int
	tail          int
	seqs          []uint64
	filter        view.Filter
	text          string // in lower case
	acp           bool
}

func (q *eventQuery) all() bool { return q.filter.Empty() && q.text == "" }

func (q *eventQuery) match(kind event.Type, actor, tool string, line []byte) bool {
	return q.filter.Match(kind, actor, tool) && (q.text == "" || holds(line, q.text))
}
