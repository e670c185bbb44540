package knowledge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/search"
	"lyceum/internal/search/glove"
)

func index(t *testing.T, c *Catalogue, o Options) *Index {
	t.Helper()
	x, err := Open(context.Background(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func find(t *testing.T, x *Index, intent string, f Filter, limit int) Found {
	t.Helper()
	found, err := x.Search(context.Background(), intent, f, limit)
	if err != nil {
		t.Fatalf("search for %q: %v", intent, err)
	}
	return found
}

func shown(f Found) (out []string) {
	for _, h := range f.Hits {
		out = append(out, h.Entry.Shown)
	}
	return out
}

// counting is an embedder that counts what it is asked, and fails when it is told to.
type counting struct {
	glove.Embedder
	asked int
	fails error
}

func (c *counting) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if c.fails != nil {
		return nil, c.fails
	}
	c.asked += len(texts)
	return c.Embedder.Embed(ctx, texts)
}

func some(t *testing.T) *Catalogue {
	return catalogue(t,
		tool("files", "list_files", "Shows what a folder holds."),
		tool("disk", "listFiles", "Shows what a folder holds."),
		tool("mail", "send_email", "Sends a letter to somebody."),
		tool("weather", "forecast", "Tells temperature and rain of the next days."),
		tool("chinese", "search_notes", "搜索用户的笔记和文件"),
		tool("russian", "find_book", "Находит книгу в библиотеке по названию"),
		tool("arabic", "translate", "يترجم النص إلى لغة أخرى"),
		Entry{Source: Local, Name: "exec", Shown: "exec", Description: "Runs a shell command.", Schema: `{"type":"object"}`, Trust: event.TrustOwn},
	)
}

func TestSearch(t *testing.T) {
	t.Parallel()
	ways := map[string]Options{"words": {}, "words and vectors": {Embedder: glove.Embedder{}}}
	for way, o := range ways {
		t.Run("FindsNamesHoweverTheyAreWritten/"+way, func(t *testing.T) {
			t.Parallel()
			got := shown(find(t, index(t, some(t), o), "list files", Filter{}, 2))
			slices.Sort(got)
			if want := []string{"disk__listFiles", "files__list_files"}; !slices.Equal(got, want) {
				t.Errorf("list files: got %v, want %v", got, want)
			}
		})
		t.Run("WorksInEveryScript/"+way, func(t *testing.T) {
			t.Parallel()
			x := index(t, some(t), o)
			for intent, want := range map[string]string{"搜索笔记": "chinese__search_notes", "найти книгу": "russian__find_book", "لغة أخرى": "arabic__translate", "sending letters": "mail__send_email"} {
				if got := shown(find(t, x, intent, Filter{}, 1)); !slices.Equal(got, []string{want}) {
					t.Errorf("%s: got %v, want %s", intent, got, want)
				}
			}
		})
		t.Run("TakesOddIntents/"+way, func(t *testing.T) {
			t.Parallel()
			x := index(t, some(t), o)
			for _, odd := range []string{"", " ", `"`, "a AND", "NEAR(", "*", "the of", "\x00", "\xff\xfe", "\u202e", strings.Repeat("files ", 50_000), "🙂", "' OR 1=1 --", "{}"} {
				find(t, x, odd, Filter{}, 5)
				find(t, x, odd, Filter{}, 0)
			}
		})
		t.Run("FiltersBeforeItCounts/"+way, func(t *testing.T) {
			t.Parallel()
			c := new(Catalogue)
			for i := range 300 {
				if err := c.Add(tool(fmt.Sprintf("s%03d", i), "list_files", "List files, list the files.")); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Add(Entry{Source: Local, Name: "x", Shown: "x", Description: "Also names some files of a very long and otherwise different kind.", Trust: event.TrustOwn}); err != nil {
				t.Fatal(err)
			}
			x := index(t, c, o)
			if got := shown(find(t, x, "list files", Filter{Kind: Local}, 3)); !slices.Equal(got, []string{"x"}) {
				t.Errorf("local tools alone: got %v, want x though 300 others are better", got)
			}
			got := shown(find(t, x, "list files", Filter{Without: func(name string) bool { return name < "s200" }}, 5))
			if want := []string{"s200__list_files", "s201__list_files", "s202__list_files", "s203__list_files", "s204__list_files"}; !slices.Equal(got, want) {
				t.Errorf("without 200 of them: got %v, want %v", got, want)
			}
		})
	}
	t.Run("SaysByWhichVectorsItSearched", func(t *testing.T) {
		t.Parallel()
		if f := find(t, index(t, some(t), Options{}), "list files", Filter{}, 1); f.Embedder != "" || f.Doubt != "" {
			t.Errorf("without vectors: got %q, %q", f.Embedder, f.Doubt)
		}
		if f := find(t, index(t, some(t), Options{Embedder: glove.Embedder{}}), "list files", Filter{}, 1); f.Embedder != (glove.Embedder{}).Name() || f.Doubt != "" {
			t.Errorf("with vectors: got %q, %q", f.Embedder, f.Doubt)
		}
	})
	t.Run("GoesOnByWordsWhenAnEmbedderFails", func(t *testing.T) {
		t.Parallel()
		away := &counting{fails: errors.New("the server is away")}
		f := find(t, index(t, some(t), Options{Embedder: away}), "list files", Filter{}, 2)
		if len(f.Hits) != 2 || f.Embedder != "" || !strings.Contains(f.Doubt, "away") {
			t.Errorf("an embedder that fails at once: got %+v", f)
		}
		later := &counting{}
		x := index(t, some(t), Options{Embedder: later})
		later.fails = errors.New("the server is away")
		if f = find(t, x, "list files", Filter{}, 2); len(f.Hits) != 2 || f.Embedder != "" || !strings.Contains(f.Doubt, "away") {
			t.Errorf("an embedder that fails later: got %+v", f)
		}
	})
	t.Run("EmbedsNothingAgain", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "vectors.db")
		var want []string
		for i, least := range []int{8, 0} {
			v, err := search.OpenVectorCache(path)
			if err != nil {
				t.Fatal(err)
			}
			e := &counting{}
			x := index(t, some(t), Options{Embedder: e, Vectors: v})
			// The two that list files say the same, and have the same words in their names.
			if e.asked > least || i == 0 && e.asked < least-1 {
				t.Errorf("opened for the %d. time: embedded %d texts, want %d", i+1, e.asked, least)
			}
			got := shown(find(t, x, "is it going to be wet tomorrow", Filter{}, 3))
			if i > 0 && !slices.Equal(got, want) {
				t.Errorf("after a restart: got %v, before %v", got, want)
			}
			want = got
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("FindsTheSameOnDisk", func(t *testing.T) {
		t.Parallel()
		c := new(Catalogue)
		for i := range Large + 10 {
			if err := c.Add(tool(fmt.Sprintf("s%d", i%40), fmt.Sprintf("verb%d_noun%d", i%70, i), fmt.Sprintf("Does verb%d to noun%d of kind%d.", i%70, i, i%13))); err != nil {
				t.Fatal(err)
			}
		}
		dir := filepath.Join(t.TempDir(), "new")
		memory, disk := index(t, c, Options{}), index(t, c, Options{Dir: dir})
		again := index(t, c, Options{Dir: dir})
		if files, err := filepath.Glob(filepath.Join(dir, "*.db")); err != nil || len(files) != 1 {
			t.Fatalf("a large catalogue is %v on disk, %v; want one file", files, err)
		}
		for _, intent := range []string{"verb3 noun73", "kind5", "noun4000 verb10", "nothing of it"} {
			want := find(t, memory, intent, Filter{}, 10)
			for _, x := range []*Index{disk, again} {
				if got := find(t, x, intent, Filter{}, 10); !slices.EqualFunc(got.Hits, want.Hits, func(a, b Hit) bool { return a.Entry.Shown == b.Entry.Shown && a.Score == b.Score }) {
					t.Errorf("%s: got %v on disk, %v in memory", intent, shown(got), shown(want))
				}
			}
		}
	})
	t.Run("HasNothingInAnEmptyCatalogue", func(t *testing.T) {
		t.Parallel()
		if f := find(t, index(t, new(Catalogue), Options{Embedder: glove.Embedder{}}), "list files", Filter{}, 5); len(f.Hits) != 0 {
			t.Errorf("got %v", shown(f))
		}
	})
}

func FuzzSearch(f *testing.F) {
	for _, seed := range []string{"list files", "搜索", `{"properties":{"a":{}}}`, "\xff", "a_b-cD'e"} {
		f.Add(seed, seed, seed)
	}
	f.Fuzz(func(t *testing.T, name, description, schema string) {
		c := new(Catalogue)
		e := tool("s", name, description)
		e.Schema = schema
		if err := c.Add(e); err != nil {
			return
		}
		x := index(t, c, Options{Embedder: glove.Embedder{}})
		found := find(t, x, description, Filter{}, 5)
		if again := find(t, x, description, Filter{}, 5); !slices.Equal(shown(again), shown(found)) {
			t.Errorf("the same search twice: %v and %v", shown(found), shown(again))
		}
	})
}
