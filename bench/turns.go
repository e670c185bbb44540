package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// A cell is one measurement: N agents of K steps each, a step being one model
// call and one tool call.
type cell struct {
	Loop   string // lyceum or bare
	Model  string // http or script
	N, K   int
	Server string
	Dir    string
}

// reading is what came out, measured in a process of its own.
type reading struct {
	Turns  int
	Wall   float64 // seconds
	CPU    float64 // seconds of this process, the model server's not included
	PeakMB float64
	Bytes  float64 // of the ledger, per turn
}

func (r reading) rate() float64 { return float64(r.Turns) / r.Wall }
func (r reading) cpu() float64  { return r.CPU / float64(r.Turns) * 1e6 }

// turns measures the loop against the least program that sends the same requests
// and appends the same events to the same kind of database.
func (b *bench) turns() error {
	fmt.Println("\nTurns (one model call and one tool call each) of N agents with K steps; bare is the least")
	fmt.Println("loop that sends the same requests and appends the same events to the same database")
	fmt.Printf("  %-6s %5s %4s | %9s %9s %6s | %8s %8s %6s | %7s %7s | %6s\n",
		"model", "N", "K", "turns/s", "bare", "ratio", "CPU µs", "bare", "ratio", "peak MB", "bare", "B/turn")
	server, stop, err := startServer()
	if err != nil {
		return err
	}
	defer stop()
	rates := map[[3]string]float64{}
	for _, c := range b.cells() {
		ours, bare, err := b.compare(c, server)
		if err != nil {
			return err
		}
		rates[[3]string{c.Model, fmt.Sprint(c.N), fmt.Sprint(c.K)}] = ours.rate()
		rate, cpu := ours.rate()/bare.rate(), ours.cpu()/bare.cpu()
		fmt.Printf("  %-6s %5d %4d | %9.0f %9.0f %6.2f | %8.0f %8.0f %6.2f | %7.0f %7.0f | %6.0f\n",
			c.Model, c.N, c.K, ours.rate(), bare.rate(), rate, ours.cpu(), bare.cpu(), cpu, ours.PeakMB, bare.PeakMB, ours.Bytes)
		if c.Model == "http" && (c.K == 10 || c.K == 500) {
			b.promise(fmt.Sprintf("CPU per turn against the bare loop's, HTTP, N=%d K=%d", c.N, c.K), cpu, false, 2)
		}
		if c.Model == "http" && c.N == 64 {
			b.promise(fmt.Sprintf("turns/s, share of the bare loop's, HTTP, N=%d K=%d", c.N, c.K), rate, true, 0.6)
		}
	}
	for _, n := range []string{"1", "8", "64"} {
		short, long := rates[[3]string{"script", n, "10"}], rates[[3]string{"script", n, "500"}]
		if short > 0 && long > 0 {
			b.promise(fmt.Sprintf("turns/s at K=500, share of those at K=10, in process, N=%s", n), long/short, true, 0.8)
		}
	}
	return nil
}

// cells are those of the matrix that end in reasonable time: with HTTP the bytes
// sent grow with the square of K, and the last three cells take half an hour.
func (b *bench) cells() (out []cell) {
	for _, m := range []string{"script", "http"} {
		for _, n := range []int{1, 8, 64, 256, 1000} {
			for _, k := range []int{10, 50, 200, 500} {
				turns := n * k
				long := m == "http" && turns*k > 64*500*500
				if b.full || !long && (!b.quick || turns*k <= 64*50*50) {
					out = append(out, cell{Model: m, N: n, K: k})
				}
			}
		}
	}
	return out
}

// compare measures both loops in turn, a few times, and takes the medians.
func (b *bench) compare(c cell, server string) (ours, bare reading, err error) {
	rounds := 3
	if c.N*c.K >= 20_000 {
		rounds = 1
	}
	var all [2][]reading
	for range rounds {
		for i, loop := range []string{"lyceum", "bare"} {
			c.Loop, c.Server, c.Dir = loop, server, b.fresh()
			r, err := runCell(c)
			if err != nil {
				return ours, bare, fmt.Errorf("%+v: %w", c, err)
			}
			all[i] = append(all[i], r)
		}
	}
	return middle(all[0]), middle(all[1]), nil
}

func middle(rs []reading) reading {
	var wall, cpu, peak []float64
	for _, r := range rs {
		wall, cpu, peak = append(wall, r.Wall/float64(r.Turns)), append(cpu, r.CPU/float64(r.Turns)), append(peak, r.PeakMB)
	}
	out := rs[0]
	out.Wall, out.CPU, out.PeakMB = median(wall)*float64(out.Turns), median(cpu)*float64(out.Turns), median(peak)
	return out
}

// runCell measures one cell in a process of its own, so that memory and CPU time
// are that cell's alone.
func runCell(c cell) (r reading, err error) {
	defer os.RemoveAll(c.Dir)
	arg, err := json.Marshal(c)
	if err != nil {
		return r, err
	}
	cmd := exec.Command(os.Args[0], "-cell", string(arg))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(out, &r)
}

// startServer starts the model server in a process of its own.
func startServer() (url string, stop func(), err error) { return startProcess("-serve") }

// startProcess starts this program as a server, and returns its address.
func startProcess(flag string) (url string, stop func(), err error) {
	cmd := exec.Command(os.Args[0], flag)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(line), func() { _ = in.Close(); _ = cmd.Wait() }, err
}

// peakMB reads the highest resident size of this process.
func peakMB() float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}
