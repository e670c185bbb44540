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
	Model  string // script, slow or claude
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

// turns measures the core and the ledger alone, with a model in this process, against the least
// program that appends the same events to the same kind of database. What a user gets is path's.
func (b *bench) turns() error {
	fmt.Println("\nTurns (one model call and one tool call each) of N agents with K steps; bare is the least")
	fmt.Println("loop that appends the same events to the same database; the model is a script in the process")
	fmt.Printf("  %-6s %5s %4s | %9s %9s %6s | %8s %8s %6s | %7s %7s | %6s\n",
		"model", "N", "K", "turns/s", "bare", "ratio", "CPU µs", "bare", "ratio", "peak MB", "bare", "B/turn")
	rates := map[[2]int]float64{}
	for _, c := range b.cells() {
		ours, bare, err := b.compare(c)
		if err != nil {
			return err
		}
		rates[[2]int{c.N, c.K}] = ours.rate()
		rate, cpu := ours.rate()/bare.rate(), ours.cpu()/bare.cpu()
		fmt.Printf("  %-6s %5d %4d | %9.0f %9.0f %6.2f | %8.0f %8.0f %6.2f | %7.0f %7.0f | %6.0f\n",
			c.Model, c.N, c.K, ours.rate(), bare.rate(), rate, ours.cpu(), bare.cpu(), cpu, ours.PeakMB, bare.PeakMB, ours.Bytes)
	}
	for _, n := range []int{1, 8, 64} {
		if short, long := rates[[2]int{n, 10}], rates[[2]int{n, 500}]; short > 0 && long > 0 {
			b.promise(fmt.Sprintf("turns/s at K=500, share of those at K=10, in process, N=%d", n), long/short, true, 0.8)
		}
	}
	return nil
}

// cells are those of the matrix that end in reasonable time.
func (b *bench) cells() (out []cell) {
	for _, n := range []int{1, 8, 64, 256, 1000} {
		for _, k := range []int{10, 50, 200, 500} {
			turns := n * k
			if b.full || turns < 100_000 && (!b.quick || turns*k <= 64*50*50) {
				out = append(out, cell{Model: "script", N: n, K: k})
			}
		}
	}
	return out
}

// compare measures both loops in turn, a few times, and takes the medians.
func (b *bench) compare(c cell) (ours, bare reading, err error) {
	rounds := 3
	if c.N*c.K >= 20_000 {
		rounds = 1
	}
	var all [2][]reading
	for range rounds {
		for i, loop := range []string{"lyceum", "bare"} {
			c.Loop, c.Dir = loop, b.fresh()
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
