package witness_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/proof"
	"lyceum/internal/witness"
)

// childVariable has the test binary be a witness in a folder, until it is killed.
const childVariable = "WITNESS_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		serve(dir)
		return
	}
	os.Exit(m.Run())
}

func serve(dir string) {
	seed := sha256.Sum256([]byte("w"))
	signer, err := proof.NewSigner("w", seed[:])
	if err == nil {
		var w *witness.Witness
		if w, err = witness.Open(dir, signer, witness.Options{FirstUse: true, Clock: noon}); err == nil {
			var ln net.Listener
			if ln, err = net.Listen("tcp", "127.0.0.1:0"); err == nil {
				fmt.Println("http://" + ln.Addr().String())
				err = http.Serve(ln, w)
			}
		}
	}
	fmt.Println("cannot serve:", err)
}

func noon() event.Time { return 1_800_000_000_000_000 }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func key(t testing.TB, name string) proof.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	s, err := proof.NewSigner(name, seed[:])
	must(t, err)
	return s
}

// history is the hashes of events; two of different names part after so many.
func history(name string, common, n int) []event.Hash {
	out := make([]event.Hash, n)
	for i := range out {
		who := "all"
		if i >= common {
			who = name
		}
		out[i] = sha256.Sum256(binary.BigEndian.AppendUint64([]byte(who), uint64(i)))
	}
	return out
}

// request asks for a cosignature of the first size of a history, from its first old.
func request(t testing.TB, k proof.Signer, origin string, list []event.Hash, old, size int) proof.Request {
	t.Helper()
	tree := &proof.Tree{}
	for _, h := range list[:size] {
		tree.Add(h)
	}
	c := proof.Checkpoint{Origin: origin, Size: uint64(size), Root: tree.Root()}
	sig, err := k.Sign(c.Text())
	must(t, err)
	r := proof.Request{Old: uint64(old), Note: proof.Note{Text: c.Text(), Signatures: []proof.Signature{sig}}}
	if old <= size {
		spans, err := proof.Consistency(uint64(old), uint64(size))
		must(t, err)
		r.Path, err = proof.Prove(spans, nil, func(yield func(event.Hash, error) bool) {
			for _, h := range list {
				if !yield(h, nil) {
					return
				}
			}
		})
		must(t, err)
	}
	return r
}

func post(t testing.TB, h http.Handler, body, told string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequest(http.MethodPost, "/add-checkpoint", strings.NewReader(body))
	if told != "" {
		req.Header.Set("Lyceum-Key", told)
	}
	out := httptest.NewRecorder()
	h.ServeHTTP(out, req)
	return out
}

// TestTheProtocol goes through the answers of tlog-witness, each after those before.
func TestTheProtocol(t *testing.T) {
	t.Parallel()
	ada, eve := key(t, "ada"), key(t, "eve")
	impostor, err := proof.NewSigner("ada", []byte("another seed of thirty-two bytes"))
	must(t, err)
	w, err := witness.Open(t.TempDir(), key(t, "w"), witness.Options{Keys: []proof.Verifier{ada.Verifier(proof.Author)}, Clock: noon})
	must(t, err)
	defer w.Close()
	honest, forged := history("honest", 12, 40), history("forged", 12, 40)
	long := request(t, ada, "ada/1", honest, 10, 20)
	long.Path = append(long.Path, honest[0])
	bad := request(t, ada, "ada/1", honest, 10, 20)
	bad.Note.Signatures[0].Data[3] ^= 1
	for _, c := range []struct {
		name, body string
		status     int
		text       string
	}{
		{"NoRequest", "hello", 400, ""},
		{"AnUnknownLog", request(t, eve, "eve/1", honest, 0, 10).String(), 404, ""},
		{"UnderAnothersName", request(t, eve, "ada/1", honest, 0, 10).String(), 403, ""},
		{"ByAnImpostor", request(t, impostor, "ada/1", honest, 0, 10).String(), 403, ""},
		{"TheFirst", request(t, ada, "ada/1", honest, 0, 10).String(), 200, "— w "},
		{"AgainFromNothing", request(t, ada, "ada/1", honest, 0, 10).String(), 409, "10\n"},
		{"AgainTheSame", request(t, ada, "ada/1", honest, 10, 10).String(), 200, "— w "},
		{"AnOldSizeThatIsLarger", request(t, ada, "ada/1", honest, 11, 10).String(), 400, ""},
		{"AProofThatIsTooLong", long.String(), 422, ""},
		{"ASignatureThatIsWrong", bad.String(), 403, ""},
		{"TheNext", request(t, ada, "ada/1", honest, 10, 20).String(), 200, "— w "},
		{"FromBeforeTheLast", request(t, ada, "ada/1", honest, 10, 30).String(), 409, "20\n"},
		{"AnotherRootOfThatSize", request(t, ada, "ada/1", forged, 20, 20).String(), 409, "another root"},
		{"AnotherHistory", request(t, ada, "ada/1", forged, 20, 30).String(), 422, ""},
		{"BackToWhatWas", request(t, ada, "ada/1", honest, 20, 15).String(), 400, ""},
		{"AnotherLogOfTheKey", request(t, ada, "ada/2", forged, 0, 30).String(), 200, "— w "},
		{"TheFirstLogGoesOn", request(t, ada, "ada/1", honest, 20, 40).String(), 200, "— w "},
	} {
		got := post(t, w, c.body, "")
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.text) {
			t.Errorf("%s: got %d %q, want %d with %q", c.name, got.Code, got.Body, c.status, c.text)
		}
		if sized := got.Header().Get("Content-Type") == "text/x.tlog.size"; sized != (c.status == 409 && c.text != "another root") {
			t.Errorf("%s: the answer is of the type %s", c.name, got.Header().Get("Content-Type"))
		}
		if c.status == 200 {
			r, err := proof.ParseRequest(c.body)
			must(t, err)
			sig, err := proof.ParseSignature(strings.TrimSuffix(got.Body.String(), "\n"))
			must(t, err)
			r.Note.Signatures = append(r.Note.Signatures, sig)
			if signed, at := r.Note.By(w.Key()); signed != proof.Good || at != 1_800_000_000 {
				t.Errorf("%s: the cosignature is %v at %d", c.name, signed, at)
			}
		}
	}
}

func TestKeysOnFirstUse(t *testing.T) {
	t.Parallel()
	dir, ada := t.TempDir(), key(t, "ada")
	impostor, err := proof.NewSigner("ada", []byte("another seed of thirty-two bytes"))
	must(t, err)
	list := history("a", 9, 9)
	for i, c := range []struct {
		by     proof.Signer
		told   string
		origin string
		old    int
		status int
	}{
		{ada, "", "ada/1", 0, 404},
		{ada, key(t, "eve").String(), "ada/1", 0, 404},
		{ada, impostor.String(), "ada/1", 0, 403}, // and the impostor is not remembered for it
		{ada, ada.String(), "ada/1", 0, 200},
		{ada, "", "ada/1", 5, 200},
		{impostor, impostor.String(), "ada/1", 5, 403},
		{impostor, impostor.String(), "ada/2", 0, 403},
		{key(t, "bob"), key(t, "bob").String(), "bob/1", 0, 403}, // there is room for one log
	} {
		w, err := witness.Open(dir, key(t, "w"), witness.Options{FirstUse: true, Clock: noon, Most: 1})
		must(t, err)
		if got := post(t, w, request(t, c.by, c.origin, list, c.old, 5).String(), c.told); got.Code != c.status {
			t.Errorf("request %d: got %d %s, want %d", i, got.Code, got.Body, c.status)
		}
		if _, err := witness.Open(dir, key(t, "w"), witness.Options{Clock: noon}); err == nil {
			t.Error("two witnesses have one folder")
		}
		must(t, w.Close())
	}
}

// TestAKeyThatFollowsIsTakenOver: a witness goes on with the key that the one it knows has named, and
// with no other, nor with the one before.
func TestAKeyThatFollowsIsTakenOver(t *testing.T) {
	t.Parallel()
	ada := key(t, "ada")
	another := func(seed string) proof.Signer {
		s, err := proof.NewSigner("ada", []byte(seed))
		must(t, err)
		return s
	}
	second, third, eve := another("another seed of thirty-two bytes"), another("a third seed of thirty-two bytes"), another("a seed of eve's of thirty-two by")
	rotated := func(from, to proof.Signer) string {
		n, err := proof.Rotate(from, to, 1_700_000_000)
		must(t, err)
		return n.String()
	}
	list := history("a", 9, 9)
	for name, opts := range map[string]witness.Options{
		"OnFirstUse": {FirstUse: true, Clock: noon},
		"Known":      {Keys: []proof.Verifier{ada.Verifier(proof.Author)}, Clock: noon},
	} {
		w, err := witness.Open(t.TempDir(), key(t, "w"), opts)
		must(t, err)
		for i, c := range []struct {
			by        proof.Signer
			follows   []string
			old, size int
			status    int
		}{
			{ada, nil, 0, 3, 200},
			{second, nil, 3, 4, 403},                                                   // nobody says that it follows
			{eve, []string{rotated(eve, second)}, 3, 4, 403},                           // it names another, and nobody it
			{eve, []string{rotated(second, eve)}, 3, 4, 403},                           // named by one that is not known
			{eve, []string{"no statement"}, 3, 4, 403},                                 // and no 500
			{third, []string{rotated(second, third), rotated(ada, second)}, 3, 4, 200}, // through two
			{third, nil, 4, 5, map[string]int{"OnFirstUse": 200, "Known": 403}[name]},  // remembered on first use
			{ada, nil, 5, 6, map[string]int{"OnFirstUse": 403, "Known": 409}[name]},    // the old one is done with
			{eve, []string{rotated(ada, eve)}, 5, 6, map[string]int{"OnFirstUse": 403, "Known": 409}[name]},
		} {
			r := httptest.NewRequest(http.MethodPost, "/add-checkpoint", strings.NewReader(request(t, c.by, "ada/1", list, c.old, c.size).String()))
			r.Header.Set(proof.KeyHeader, c.by.String())
			for _, s := range c.follows {
				r.Header.Add(proof.FollowsHeader, base64.StdEncoding.EncodeToString([]byte(s)))
			}
			got := httptest.NewRecorder()
			if w.ServeHTTP(got, r); got.Code != c.status {
				t.Errorf("%s, request %d: got %d %s, want %d", name, i, got.Code, got.Body, c.status)
			}
		}
		must(t, w.Close())
	}
}

// TestWhatAWitnessDoesNotSign: a checkpoint with a bad signature beside a good one, one of a key that its
// owner says is revoked, and anything of a log whose file is another's.
func TestWhatAWitnessDoesNotSign(t *testing.T) {
	t.Parallel()
	dir, ada, list := t.TempDir(), key(t, "ada"), history("a", 9, 9)
	second, err := proof.NewSigner("ada", []byte("another seed of thirty-two bytes"))
	must(t, err)
	w, err := witness.Open(dir, key(t, "w"), witness.Options{Keys: []proof.Verifier{ada.Verifier(proof.Author), second.Verifier(proof.Author)}, Clock: noon})
	must(t, err)
	defer w.Close()
	good := request(t, ada, "ada/1", list, 0, 3)
	bad, err := second.Sign("another text\n")
	must(t, err)
	for _, signatures := range [][]proof.Signature{{good.Note.Signatures[0], bad}, {bad, good.Note.Signatures[0]}} {
		both := good
		both.Note.Signatures = signatures
		if got := post(t, w, both.String(), ""); got.Code != 403 {
			t.Errorf("with a signature by one of its keys that is not of this text: got %d %s, want 403", got.Code, got.Body)
		}
	}
	revoked, err := proof.Revoke(ada, 1_700_000_000)
	must(t, err)
	r := httptest.NewRequest(http.MethodPost, "/add-checkpoint", strings.NewReader(good.String()))
	r.Header.Set(proof.FollowsHeader, base64.StdEncoding.EncodeToString([]byte(revoked.String())))
	got := httptest.NewRecorder()
	if w.ServeHTTP(got, r); got.Code != 403 {
		t.Errorf("by a key that is told to be revoked: got %d %s, want 403", got.Code, got.Body)
	}
	for _, origin := range []string{"ada/1", "ada/2"} {
		if got := post(t, w, request(t, ada, origin, list, 0, 3).String(), ""); got.Code != 200 {
			t.Fatalf("the checkpoint of %s: got %d %s", origin, got.Code, got.Body)
		}
	}
	path := func(origin string) string { return filepath.Join(dir, "logs", event.HashOf([]byte(origin)).String()) }
	must(t, os.Rename(path("ada/1"), path("ada/2")))
	if got := post(t, w, request(t, ada, "ada/2", list, 3, 5).String(), ""); got.Code != 500 {
		t.Errorf("where the file of a log is another's: got %d %s, want 500", got.Code, got.Body)
	}
}

// TestAKilledWitnessForgetsNothing: whatever it has cosigned when it is killed, it knows afterwards.
func TestAKilledWitnessForgetsNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(25, 3))
	ada, dir := key(t, "ada"), t.TempDir()
	honest, forged := history("honest", 0, 400), history("forged", 0, 400)
	told := 0
	for round := range 8 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"="+dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		url, err := bufio.NewReader(out).ReadString('\n')
		must(t, err)
		until := told + 1 + random.IntN(20)
		killed := make(chan struct{})
		go func() { // the last requests meet a dead witness, somewhere in what it does
			defer close(killed)
			for told < 390 {
				if told == until {
					_ = cmd.Process.Kill()
				}
				req, _ := http.NewRequest(http.MethodPost, strings.TrimSpace(url)+"/add-checkpoint", strings.NewReader(request(t, ada, "ada/1", honest, told, told+1).String()))
				req.Header.Set("Lyceum-Key", ada.String())
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					return
				}
				body, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				switch {
				case resp.StatusCode == 200:
					told++
				case resp.StatusCode == 409: // it had signed, and could not say so
					_, _ = fmt.Sscan(string(body), &told)
				default:
					t.Errorf("round %d, size %d: got %d %s", round, told, resp.StatusCode, body)
					return
				}
			}
		}()
		<-killed
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		w, err := witness.Open(dir, key(t, "w"), witness.Options{FirstUse: true, Clock: noon})
		must(t, err)
		for _, old := range []int{told, told + 1} { // a second history is not signed, whichever it saw last
			if got := post(t, w, request(t, ada, "ada/1", forged, old, 395).String(), ""); got.Code == 200 {
				t.Fatalf("round %d: killed after it cosigned %d events, it cosigned another history", round, told)
			}
		}
		got := post(t, w, request(t, ada, "ada/1", honest, 0, told).String(), "")
		last := 0
		_, _ = fmt.Sscan(got.Body.String(), &last)
		if got.Code != 409 || last < told {
			t.Fatalf("round %d: it had cosigned %d events, and afterwards knows of %d (%d)", round, told, last, got.Code)
		}
		must(t, w.Close())
	}
	if told < 8 {
		t.Errorf("only %d checkpoints were cosigned", told)
	}
}
