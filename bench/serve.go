package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"lyceum/internal/api"
	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/model/demo"
	"lyceum/internal/quest"
	lyceum "lyceum/internal/runtime"
	"lyceum/internal/society/solo"
	"lyceum/internal/tool"
)

// How the live stream is measured.
const (
	streamReaders = 500
	streamRate    = 1000 // events a second
	streamToken   = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
)

// streams has 500 readers watch a quest that grows by 1000 events a second, in a server
// that is a process of its own and is killed in the middle, while one of them stalls.
// Each reader checks that it gets every event once and in order.
func (b *bench) streams() error {
	span := 20 * time.Second
	if b.quick {
		span = 6 * time.Second
	}
	fmt.Printf("\nServer: %d readers of one quest that appends %d events a second for %v; kill -9 in the middle\n", streamReaders, streamRate, span)
	home := b.fresh()
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	last := uint64(span.Seconds()*streamRate) + 1
	first, err := startStreams(home, "127.0.0.1:0", last)
	if err != nil {
		return err
	}
	addr := first.addr
	stall, err := stalled(addr)
	if err != nil {
		return err
	}
	defer stall.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 4*span+patience)
	defer cancel()
	var readers sync.WaitGroup
	all := make([]*streamReader, streamReaders)
	begun := time.Now()
	for i := range all {
		all[i] = &streamReader{addr: addr, until: last}
		readers.Go(func() { all[i].read(ctx) })
	}
	for all[0].last.Load() < last/2 && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	peak := first.peakMB()
	_ = first.cmd.Process.Signal(syscall.SIGKILL)
	_ = first.cmd.Wait()
	second, err := startStreams(home, addr, last)
	if err != nil {
		return err
	}
	readers.Wait()
	wall := time.Since(begun)
	peak = max(peak, second.peakMB())
	cpu := second.cpu()
	second.stop()
	return b.streamVerdict(all, peak, wall, span, cpu)
}

func (b *bench) streamVerdict(all []*streamReader, peak float64, wall, span time.Duration, cpu float64) error {
	whole, again, least := 0, 0, all[0].until
	var late []float64
	for i, r := range all {
		if r.err != nil && !errors.Is(r.err, context.DeadlineExceeded) {
			return fmt.Errorf("reader %d: %w", i, r.err)
		}
		if r.last.Load() == r.until {
			whole++
		}
		least = min(least, r.last.Load())
		again += max(0, r.connects-1)
		late = append(late, r.late.Seconds()*1000)
	}
	slices.Sort(late)
	fmt.Printf("  %d readers got all events in order, %d connected again; %.1f s for %v of events; %.1f s of CPU since the restart\n", whole, again, wall.Seconds(), span, cpu)
	fmt.Printf("  the slowest event took %.0f ms to the median reader, %.0f ms to the worst (the kill included)\n", late[len(late)/2], late[len(late)-1])
	if least < all[0].until {
		fmt.Printf("  the time was over before all had all: the slowest got %d of %d events; is the machine busy?\n", least, all[0].until)
	}
	b.promise("readers that got every event in order", float64(whole), true, streamReaders)
	b.promise("MB of the server", peak, false, 300)
	return nil
}

// stalled is a reader that asks and never reads.
func stalled(addr string) (net.Conn, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(conn, "GET /api/quests/load/events HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n", addr, streamToken)
	return conn, err
}

// streamReader follows the quest, and connects again whenever it must.
type streamReader struct {
	addr     string
	until    uint64
	last     atomic.Uint64
	connects int
	late     time.Duration
	err      error
}

func (r *streamReader) read(ctx context.Context) {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	for r.err == nil && r.last.Load() < r.until {
		if ctx.Err() != nil {
			r.err = ctx.Err()
			return
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.addr+"/api/quests/load/events", nil)
		if err != nil {
			r.err = err
			return
		}
		req.Header.Set("Authorization", "Bearer "+streamToken)
		req.Header.Set("Accept", "text/event-stream")
		req.Header.Set("Last-Event-ID", strconv.FormatUint(r.last.Load(), 10))
		resp, err := client.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			if err == nil {
				resp.Body.Close()
			}
			time.Sleep(50 * time.Millisecond) // the server is away
			continue
		}
		r.connects++
		r.take(resp.Body)
		resp.Body.Close()
	}
}

// take reads a connection to its end, and looks at nothing but the numbers and times.
func (r *streamReader) take(body io.Reader) {
	in := bufio.NewReaderSize(body, 32<<10)
	var seq uint64
	for r.last.Load() < r.until {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		if id, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
			seq, _ = strconv.ParseUint(string(bytes.TrimSpace(id)), 10, 64)
		}
		if len(line) == 1 && seq > 0 { // the frame is whole
			if seq != r.last.Load()+1 {
				r.err = fmt.Errorf("event %d came after %d", seq, r.last.Load())
				return
			}
			r.last.Store(seq)
			seq = 0
		} else if seq%50 == 0 {
			r.clock(line)
		}
	}
}

// clock notes how long an event took to get here.
func (r *streamReader) clock(line []byte) {
	_, rest, ok := bytes.Cut(line, []byte(`"time":"`))
	if !ok || len(rest) < 27 {
		return
	}
	if sent, err := time.Parse("2006-01-02T15:04:05.000000Z", string(rest[:27])); err == nil {
		r.late = max(r.late, time.Since(sent))
	}
}

// streamServer is a server in a process of its own.
type streamServer struct {
	cmd  *exec.Cmd
	in   io.Closer
	addr string
}

func startStreams(home, addr string, last uint64) (*streamServer, error) {
	s := &streamServer{cmd: exec.Command(os.Args[0], "-serve-quests", fmt.Sprintf("%s %s %d", home, addr, last))}
	s.cmd.Stderr = os.Stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	s.in, s.addr = in, strings.TrimSpace(line)
	if err != nil {
		return nil, fmt.Errorf("the server of quests at %s does not come up, see above: %w", addr, errors.Join(err, s.cmd.Wait()))
	}
	return s, nil
}

func (s *streamServer) stop() { _ = s.in.Close(); _ = s.cmd.Wait() }

func (s *streamServer) peakMB() float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	var kb float64
	fmt.Sscan(rest, &kb)
	return kb / 1024
}

// cpu is what the server has used, in seconds.
func (s *streamServer) cpu() float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	fields := strings.Fields(string(data))
	if err != nil || len(fields) < 15 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[13], 64)
	system, _ := strconv.ParseFloat(fields[14], 64)
	return (user + system) / 100
}

// serveQuests is the server's process: it appends events until the last, and serves
// them, until its standard input ends.
func serveQuests(arg string) error {
	var home, addr string
	var last uint64
	if _, err := fmt.Sscan(arg, &home, &addr, &last); err != nil {
		return err
	}
	stop, err := profile()
	if err != nil {
		return err
	}
	defer stop()
	store, err := sqlite.Open(filepath.Join(home, "lyceum.db"), nil)
	if err != nil {
		return err
	}
	blobs, err := blobfs.Open(filepath.Join(home, "blobs"), nil)
	if err != nil {
		return err
	}
	rt := &lyceum.Runtime{
		Ledger: store, Blobs: blobs, Tools: tool.Builtin(), Societies: []quest.Society{solo.Society{}}, Clock: lyceum.SystemClock, Home: home, Version: "bench",
		Models: func(name string, _ func(string) ([]byte, error)) (model.Model, error) { return demo.Open(name) },
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err = rt.Create(ctx, lyceum.Plan{Spec: &quest.Spec{Name: "load", Problem: "Grow.", Model: "demo"}, Source: []byte("name: load\n"), Dir: home})
	if err != nil && !errors.Is(err, lyceum.ErrExists) {
		return err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := api.New(rt, api.Options{Token: streamToken})
	defer server.Close()
	web := server.HTTP()
	go func() { _ = web.Serve(ln) }()
	failed := make(chan error, 1)
	go func() { failed <- grow(ctx, rt, last) }()
	fmt.Println(ln.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	cancel()
	return errors.Join(<-failed, web.Close(), store.Close(), blobs.Close())
}

// grow appends events at the rate, in batches as an owner of many agents does.
func grow(ctx context.Context, rt *lyceum.Runtime, last uint64) error {
	head, err := rt.Ledger.Head(ctx, "load")
	if err != nil {
		return err
	}
	const batches = 100 // in a second
	tick := time.NewTicker(time.Second / batches)
	defer tick.Stop()
	seq, hash, text := head.Seq, head.Hash, strings.Repeat("a word ", 20)
	for seq < last {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		batch := ledger.Batch{Quest: "load"}
		for range min(streamRate/batches, last-seq) {
			e, err := event.Seal("load", seq+1, hash, event.Draft{Time: rt.Clock(), Actor: "person", Body: &event.UserMessage{Text: event.Text{Text: text}}})
			if err != nil {
				return err
			}
			batch.Events = append(batch.Events, e)
			seq, hash = e.Seq, e.Hash
		}
		if err := rt.Ledger.Append(context.WithoutCancel(ctx), batch); err != nil {
			return err
		}
	}
	return nil
}
