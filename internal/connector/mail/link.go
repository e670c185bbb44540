package mail

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"
)

// link is a connection to a server that is not trusted: to be silent for long, to send lines
// without an end, or more than there can be.
type link struct {
	net.Conn          // with TLS, once that is spoken
	raw      net.Conn // below it
	safe     bool
	in       *bufio.Reader
	patience time.Duration
	left     int64
	watch    *time.Timer
	stop     func() bool
	silent   atomic.Bool
}

var (
	errMuch = errors.New("the server has sent more than it should")
	errLong = errors.New("the server has sent a line that is too long")
)

// Read implements io.Reader.
func (l *link) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errMuch
	}
	n, err := l.Conn.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if n > 0 {
		l.watch.Reset(l.patience)
	}
	return n, l.told(err)
}

// Write implements io.Writer.
func (l *link) Write(p []byte) (int, error) {
	l.watch.Reset(l.patience)
	n, err := l.Conn.Write(p)
	return n, l.told(err)
}

// told is an error, or that of a server that fell silent.
func (l *link) told(err error) error {
	if err != nil && l.silent.Load() {
		return fmt.Errorf("the server was silent for %s", l.patience)
	}
	return err
}

// allow gives the server another patience from now on.
func (l *link) allow(patience time.Duration) {
	l.patience = patience
	l.watch.Reset(patience)
}

// Close implements io.Closer.
func (l *link) Close() error {
	l.stop()
	l.watch.Stop()
	return l.raw.Close()
}

// maxLine is the longest line that is read.
const maxLine = 64 << 10

// line reads one, without its end.
func (l *link) line() (string, error) {
	var b strings.Builder
	for {
		part, err := l.in.ReadSlice('\n')
		if b.Write(part); b.Len() > maxLine {
			return "", errLong
		}
		switch {
		case err == nil:
			return strings.TrimRight(b.String(), "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// literal reads so many bytes.
func (l *link) literal(n int64) ([]byte, error) {
	l.left += n // it was asked for
	data := make([]byte, 0, min(n, 64<<10))
	for int64(len(data)) < n {
		piece := make([]byte, min(n-int64(len(data)), 256<<10))
		got, err := io.ReadFull(l.in, piece)
		data = append(data, piece[:got]...)
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}
