package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"bytes"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestAnExecutorIsShownAPicture: one that goes with a person's message is in the prompt of an executor
// that sees, and so in what its model is asked.
func TestAnExecutorIsShownAPicture(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: q\nproblem: Begin.\nexecutor: builtin\nmodel: script:plan.yaml\ncomputer: auto\n",
		"plan.yaml":  "rules:\n  - say: \"I see.\"\n",
	})
	sandboxed(t, h)
	// Noise does not become smaller.
	noise, from := image.NewGray(image.Rect(0, 0, 300, 300)), rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(from.Uint32())
	}
	var picture bytes.Buffer
	must(t, png.Encode(&picture, noise))
	must(t, os.WriteFile(filepath.Join(h.work, "noise.png"), picture.Bytes(), 0o600))

	sizes := func() (out []float64) {
		for _, e := range h.rawEvents("q") {
			if e["type"] == "gateway.asked" {
				out = append(out, body(e)["size"].(float64))
			}
		}
		return out
	}
	h.run("run", "quest.yaml").want(t, 0, "I see.")
	before := sizes()
	h.ok("message", "q", "Look.", "--file", "noise.png")
	h.run("run", "q").want(t, 0, "I see.")
	after := sizes()
	if len(before) != 1 || len(after) != 2 || after[1]-before[0] < float64(picture.Len())*4/3 {
		t.Errorf("the model was asked with %v bytes, want a second request with a picture of %d more", after, picture.Len())
	}
	for _, e := range h.rawEvents("q") {
		if e["type"] == "prompt.result" && body(e)["stop"] != "end_turn" {
			t.Errorf("a prompt ended with %v", body(e))
		}
		// What is recorded of the conversation has the hash of the picture alone.
		if f, ok := body(e)["frames"].(map[string]any); ok && f["size"].(float64) > 20_000 {
			t.Errorf("the frames of a prompt have %v bytes: a picture is among them", f["size"])
		}
	}
	h.sound("q")
}
