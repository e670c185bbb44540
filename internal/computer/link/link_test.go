package link_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"lyceum/internal/computer/link"
)

func TestFramesArriveAsTheyWereSent(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	long := bytes.Repeat([]byte("x"), link.MaxFrame)
	request := link.Request{Op: link.OpRun, ID: "a", Command: &link.Command{Args: []string{"sh", "<&>"}, Keep: true}, Out: 5}
	for _, err := range []error{
		link.WriteJSON(&wire, link.KindRequest, request),
		link.WriteData(&wire, link.KindStderr, 1<<40, []byte("some\x00bytes")),
		link.WriteAck(&wire, link.KindStdout, 77),
		link.WriteFrame(&wire, link.KindInput, long[:link.MaxFrame/2], long[link.MaxFrame/2:]),
		link.WriteFrame(&wire, link.KindInput),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	// However the bytes come.
	r := &link.Reader{R: iotest.HalfReader(&wire)}
	var got link.Request
	if err := r.JSON(link.KindRequest, &got); err != nil || got.Command == nil || got.Command.Args[1] != "<&>" || got.Out != 5 || !got.Command.Keep {
		t.Errorf("the request is %+v (%v)", got, err)
	}
	kind, b, err := r.Next()
	if err != nil || kind != link.KindStderr {
		t.Fatalf("the frame: got kind %v, %v, want stderr", kind, err)
	}
	if at, data, err := link.Data(b); at != 1<<40 || string(data) != "some\x00bytes" || err != nil {
		t.Errorf("data %d %q (%v)", at, data, err)
	}
	if _, b, err = r.Next(); err != nil {
		t.Fatal(err)
	}
	if stream, at, err := link.Ack(b); stream != link.KindStdout || at != 77 || err != nil {
		t.Errorf("ack %d %d (%v)", stream, at, err)
	}
	for _, want := range [][]byte{long, {}} {
		if kind, b, err = r.Next(); kind != link.KindInput || !bytes.Equal(b, want) || err != nil {
			t.Errorf("a frame of %d bytes is %d of %q (%v)", len(want), len(b), kind, err)
		}
	}
	if _, _, err := r.Next(); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("at the end: %v", err)
	}
}

func TestWhatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	if err := link.WriteFrame(&wire, link.KindInput, make([]byte, link.MaxFrame+1)); err == nil || wire.Len() > 0 {
		t.Errorf("sent %d bytes (%v)", wire.Len(), err)
	}
	head := binary.BigEndian.AppendUint32(nil, link.MaxFrame+1)
	r := &link.Reader{R: io.MultiReader(bytes.NewReader(append(head, 'I')), neverEnding{})}
	if _, _, err := r.Next(); err == nil {
		t.Error("a frame that is too long was read")
	}
}

type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) { return len(p), nil }

func TestATornFrameIsNoEnd(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	if err := link.WriteData(&wire, link.KindStdout, 3, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < wire.Len(); n++ {
		r := &link.Reader{R: bytes.NewReader(wire.Bytes()[:n])}
		if _, _, err := r.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

func TestNonsenseIsAnError(t *testing.T) {
	t.Parallel()
	huge := binary.BigEndian.AppendUint64(nil, 1<<63)
	for what, err := range map[string]error{
		"short data":    second(link.Data([]byte("1234567"))),
		"a huge offset": second(link.Data(huge)),
		"a short ack":   second(link.Ack([]byte("K2345678"))),
		"a long ack":    second(link.Ack([]byte("K234567890"))),
		"a huge ack":    second(link.Ack(append([]byte{1}, huge...))),
		"another kind":  (&link.Reader{R: strings.NewReader("\x00\x00\x00\x02R{}")}).JSON(link.KindAnswer, new(link.Answer)),
		"no JSON":       (&link.Reader{R: strings.NewReader("\x00\x00\x00\x02A{x")}).JSON(link.KindAnswer, new(link.Answer)),
	} {
		if err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}

func second[A, B any](_ A, _ B, err error) error { return err }

func FuzzReader(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02R{}"))
	f.Add([]byte("\x00\x00\x00\x0cK\x01\x00\x00\x00\x00\x00\x00\x00\x00xx"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &link.Reader{R: bytes.NewReader(b)}
		read := 0
		for {
			_, frame, err := r.Next()
			if err != nil {
				return
			}
			if read += 5 + len(frame); read > len(b) {
				t.Fatalf("%d bytes were read out of %d", read, len(b))
			}
			_, _, _ = link.Data(frame)
			_, _, _ = link.Ack(frame)
		}
	})
}
