package computertest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// unquoted is a request as it is to be written.
func unquoted(arg string) string {
	s, err := strconv.Unquote(arg)
	if err != nil {
		fmt.Println(err)
	}
	return s
}

// exchangeWith sends a text to an address, and returns the beginning of what comes back within some
// seconds.
func exchangeWith(address, text string) (string, error) {
	c, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(c, 4096))
	return string(b), err
}

// rawRequests sends each of the requests to args[0], and says what came back.
func rawRequests(args []string) {
	answers := make([]chan string, len(args)-1)
	turns := make(chan struct{}, 8)
	for i, q := range args[1:] {
		answers[i] = make(chan string, 1)
		go func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			got, err := exchangeWith(args[0], unquoted(q))
			line, _, _ := strings.Cut(unquoted(q), "\r\n")
			answers[i] <- fmt.Sprintf("%s: %v %s", line, err, got)
		}()
	}
	for _, a := range answers {
		fmt.Println(<-a)
	}
}

// twice sends a request, and again on the same connection when it is told to.
func twice(args []string) {
	c, err := net.DialTimeout("tcp", args[0], 5*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for _, word := range []string{"first:", "second:"} {
		_, err := io.WriteString(c, unquoted(args[1]))
		var got strings.Builder
		for err == nil && got.Len() < 1<<20 {
			// The end of an answer that keeps its connection is not looked for: what comes is.
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
			_, err = io.CopyN(&got, c, 1)
		}
		fmt.Println(strings.ReplaceAll(got.String(), "\r\n", " "))
		fmt.Println(word, err)
		if word == "first:" {
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		}
	}
}

// hugeHeader sends a request whose head has a line of so many bytes more.
func hugeHeader(args []string) {
	size, _ := strconv.Atoi(args[2])
	line, rest, _ := strings.Cut(unquoted(args[3]), "\r\n")
	for _, name := range []string{"X-Long", "Authorization", "Mcp-Session-Id"} {
		got, err := exchangeWith(args[0], line+"\r\n"+name+": "+strings.Repeat("a", size)+"\r\n"+rest)
		fmt.Println(name, err, got)
	}
	var many strings.Builder
	for i := 0; many.Len() < size; i++ {
		fmt.Fprintf(&many, "X-%d: a\r\n", i)
	}
	got, err := exchangeWith(args[0], line+"\r\n"+many.String()+rest)
	fmt.Println("many", err, got)
	got, err = exchangeWith(args[0], "POST /"+strings.Repeat("a", size)+" HTTP/1.1\r\n"+rest)
	fmt.Println("line", err, got)
}

// holdRequests keeps so many connections to args[0] on which it has sent the same, and then
// neither writes nor reads more than the first line. One that is refused is made again, for
// a minute.
func holdRequests(args []string) {
	want, _ := strconv.Atoi(args[1])
	all := make([]net.Conn, want)
	for round := 0; round < 120; round++ {
		for i, c := range all {
			if c != nil && !refusedAt(c) {
				continue
			}
			if c != nil {
				c.Close()
			}
			c, err := net.DialTimeout("tcp", args[0], time.Second)
			if err != nil {
				fmt.Println(err)
				all[i] = nil
				continue
			}
			// Little is taken from it.
			_ = c.(*net.TCPConn).SetReadBuffer(4096)
			_, _ = io.WriteString(c, unquoted(args[2]))
			all[i] = c
		}
		if round == 0 {
			fmt.Println("holds:", want)
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// refusedAt reports whether a connection has been told something else than that all is well.
func refusedAt(c net.Conn) bool {
	b := make([]byte, 12)
	_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
	n, err := io.ReadFull(c, b)
	if n == 0 {
		late, ok := err.(net.Error)
		return !ok || !late.Timeout()
	}
	return strings.HasPrefix(string(b), "HTTP/1.1 ") && string(b) != "HTTP/1.1 200"
}
