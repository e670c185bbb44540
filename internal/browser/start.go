package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/plain"
)

// places are where a browser is looked for, the best first. Debian's wrapper in the PATH reads
// files that a computer does not show, so what it wraps comes before it.
var places = []string{
	"/usr/lib/chromium/chromium", "/usr/lib/chromium-browser/chromium-browser", "/opt/google/chrome/chrome",
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"/usr/lib/chromium/headless_shell", "chromium-headless-shell", "chrome-headless-shell", "headless_shell",
}

// none is the exit code that says that there is no browser.
const none = 117

// find is a script that becomes the first browser of those that $2 names, with the other
// arguments. The pipe that it has as its input and output becomes that of the protocol. Its
// profile, $1, is all that it writes.
const find = `umask 077; mkdir -p "$1" || exit 1
profile=$1 places=$2; shift 2
for p in $places; do
	if q=$(command -v "$p"); then HOME=$profile XDG_CONFIG_HOME=$profile XDG_CACHE_HOME=$profile exec "$q" "$@" 3<&0 4>&1 </dev/null >/dev/null; fi
done
exit 117`

// look is a script that finds out whether there is one of the browsers that its arguments name.
const look = `for p; do command -v "$p" >/dev/null && exit 0; done
exit 117`

// Find says whether a computer has a browser, without starting it: ErrUnavailable, with what to do
// next, if it has none.
func Find(ctx context.Context, c *computer.Computer, o Options) error {
	looked := places
	if o.Program != "" {
		looked = []string{o.Program}
	}
	res, err := c.Run(ctx, computer.Command{ID: "find-browser", Args: append([]string{"sh", "-c", look, "browser"}, looked...)})
	if err != nil {
		return fmt.Errorf("look for a browser: %w", err)
	}
	if res.Exit == none {
		return &Missed{Looked: looked}
	}
	return nil
}

// flags have a browser begin the same way each time, speak with nobody, and ask nobody.
// Its own sandbox cannot be inside another, and the computer is one.
var flags = []string{
	"--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
	"--no-first-run", "--no-default-browser-check", "--no-pings", "--no-service-autorun", "--no-startup-window",
	"--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-extensions", "--disable-sync",
	"--disable-breakpad", "--disable-crash-reporter", "--disable-domain-reliability", "--disable-client-side-phishing-detection",
	"--disable-hang-monitor", "--disable-prompt-on-repost", "--disable-search-engine-choice-screen",
	"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
	"--disable-site-isolation-trials", "--disable-notifications", "--disable-speech-api", "--disable-print-preview",
	"--disable-features=DeferRendererTasksAfterInput,Translate,MediaRouter,OptimizationHints,IsolateOrigins,IsolateSandboxedIframes,BackForwardCache,PaintHolding,InterestFeedContentSuggestions,DialMediaRouteProvider,AcceptCHFrame,HttpsUpgrades,AutofillServerCommunication,SharedStorageAPI,FedCm,PrivacySandboxSettings4",
	"--deny-permission-prompts", "--block-new-web-contents", "--metrics-recording-only", "--mute-audio", "--password-store=basic",
	// There is no network, and no name that could be asked for; what is on the computer itself
	// is out of reach too.
	"--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=socks5://127.0.0.1:9", "--proxy-bypass-list=<-loopback>",
	"--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-quic",
	// A frame is drawn when it is ready, not by a clock: that of the page stands still.
	"--run-all-compositor-stages-before-draw", "--disable-new-content-rendering-timeout",
	// What it draws, and what it draws by chance.
	"--hide-scrollbars", "--force-color-profile=srgb", "--font-render-hinting=none", "--disable-lcd-text", "--force-device-scale-factor=1",
	"--window-size=1280,800", "--lang=en-US", "--js-flags=--random-seed=20261117 --max-old-space-size=512",
}

// endTime is how long it may take to end a browser, at the worst.
const endTime = 10 * time.Second

// start starts a browser and waits until it answers.
func start(ctx context.Context, c *computer.Computer, id string, o Options) (*conn, string, error) {
	looked := places
	if o.Program != "" {
		looked = []string{o.Program}
	}
	profile := "/tmp/" + id
	args := []string{"sh", "-c", find, "browser", profile, strings.Join(looked, " ")}
	args = append(append(args, flags...), "--user-data-dir="+profile)
	ctx, cancel := context.WithTimeoutCause(ctx, o.Start, fmt.Errorf("%w that answers: it has said nothing for %s", ErrUnavailable, o.Start))
	defer cancel()
	if err := c.Start(ctx, computer.Command{ID: id, Args: args, Input: true, Ahead: maxAhead}); err != nil {
		return nil, "", fmt.Errorf("start a browser: %w", err)
	}
	k := newConn(ctx, &remote{c: c, id: id, profile: profile})
	var v struct {
		Product string `json:"product"`
	}
	if err := k.call(ctx, "", "Browser.getVersion", nil, &v); err != nil {
		return nil, "", errors.Join(k.explain(ctx, err), k.end(context.WithoutCancel(ctx)))
	}
	return k, plain.Brief(plain.Line(v.Product), 100), nil
}

// remote is a browser's command in a computer.
type remote struct {
	c           *computer.Computer
	id, profile string
	given       int64
	complaints  *computer.Complaints
}

// listen begins to read, until ctx ends.
func (r *remote) listen(ctx context.Context) *computer.Following {
	r.complaints = r.c.Complaints(ctx, r.id)
	return r.c.Follow(ctx, r.id, computer.Stdout, 0)
}

// tell gives the browser bytes.
func (r *remote) tell(ctx context.Context, data []byte) error {
	taken, err := r.c.WriteAt(ctx, r.id, r.given, data, false)
	r.given = taken
	return err
}

// end kills the browser with all that it started, and removes what it wrote.
func (r *remote) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	err := r.c.Kill(ctx, r.id)
	if err == nil {
		_, err = r.c.Wait(ctx, r.id)
	}
	if errors.Is(err, computer.ErrUnknown) || errors.Is(err, computer.ErrStopped) {
		return nil // it is over, and so is its /tmp
	}
	if err != nil {
		return fmt.Errorf("end a browser: %w", err)
	}
	<-r.complaints.Over()
	if _, err = r.c.Run(ctx, computer.Command{ID: r.id + "-rm", Args: []string{"rm", "-rf", r.profile}}); err == nil {
		err = errors.Join(r.c.Forget(ctx, r.id), r.c.Forget(ctx, r.id+"-rm"))
	}
	if errors.Is(err, computer.ErrStopped) {
		return nil
	}
	return err
}

// why says how the browser ended, if it has.
func (r *remote) why(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if e := r.c.Kill(ctx, r.id); e != nil {
		return err
	}
	res, e := r.c.Wait(ctx, r.id)
	switch {
	case e != nil:
		return err
	case res.Exit == none:
		return &Missed{Looked: places}
	case res.End != "" && res.End != computer.EndKilled:
		return fmt.Errorf("%w that stays: it was ended (%s)", ErrUnavailable, res.End)
	}
	return r.complaints.Explain(fmt.Errorf("%w that works: %w", ErrUnavailable, err))
}

// Missed says that there is no browser, and how to get one.
type Missed struct{ Looked []string }

func (m *Missed) Error() string {
	return fmt.Sprintf("%v: install Chromium where the computer's programs come from (Debian: apt-get install chromium; of a Dockerfile: RUN apt-get update && apt-get install -y chromium fonts-dejavu-core)", ErrUnavailable)
}

// Unwrap makes it an ErrUnavailable.
func (m *Missed) Unwrap() error { return ErrUnavailable }
