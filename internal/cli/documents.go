package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lyceum/docs"
	"lyceum/internal/api/client"
	"lyceum/internal/config"
	"lyceum/internal/notice"
	"lyceum/internal/site"
	"lyceum/web"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// built is the site of the documents. It is made when somebody reads it first.
var built = sync.OnceValues(func() (fs.FS, error) {
	faces, err := faces()
	if err != nil {
		return nil, err
	}
	return site.Build(docs.Files, faces)
})

// faces are the page's own fonts, for the documents: what of them Latin letters need.
func faces() (site.Faces, error) {
	var f site.Faces
	for pattern, into := range map[string]*[]byte{"assets/inter-latin-wght-*.woff2": &f.Sans, "assets/jetbrains-mono-latin-wght-*.woff2": &f.Mono} {
		found, _ := fs.Glob(web.Dist, pattern) // the pattern is right
		if len(found) != 1 {
			continue
		}
		data, err := fs.ReadFile(web.Dist, found[0])
		if err != nil {
			return f, err
		}
		*into = data
	}
	all, err := notice.All()
	if err != nil {
		return f, err
	}
	var text strings.Builder
	err = notice.Write(&text, slices.DeleteFunc(all, func(n notice.Notice) bool { return !strings.HasPrefix(n.Name, "@fontsource-variable/") }))
	f.License = text.String()
	return f, err
}

// docsPatience is how long somebody may take to ask for a page.
const docsPatience = 10 * time.Second

// handbook is that site as a folder.
type handbook struct{}

// Open implements fs.FS.
func (handbook) Open(name string) (fs.File, error) {
	files, err := built()
	if err != nil {
		return nil, err
	}
	return files.Open(name)
}

func (a *app) docsCommand() *cobra.Command {
	var list bool
	var html, man string
	names := site.Names(docs.Files)
	cmd := &cobra.Command{
		Use:   "docs [document]",
		Short: "Read the documents in a browser, or write them as a site or man pages",
		Long: `Open the documents that came with this lyceum in the browser, with a search in all of them: on the page of
lyceum serve, where that is up, or else on a port of its own of this machine, until ctrl-C. The address is printed.

  lyceum docs lab
  lyceum docs --html site
  lyceum docs --man ~/.local/share/man`,
		Args: rangeArgs(0, 1, "the name of a document, or none"),
		RunE: func(cmd *cobra.Command, args []string) error {
			page := ""
			if len(args) == 1 {
				i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, strings.TrimSuffix(args[0], ".md")) })
				if i < 0 {
					return usagef("there is no document %.40q: there are %s", args[0], strings.Join(names, ", "))
				}
				page = names[i] + ".html"
			}
			switch {
			case list:
				fmt.Fprintln(a.out, strings.Join(names, "\n"))
				return nil
			case html != "":
				return a.writeSite(html)
			case man != "":
				return a.writeMan(man)
			}
			return a.readDocs(cmd.Context(), page)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "name the documents")
	cmd.Flags().StringVar(&html, "html", "", "write the site into this folder, which must not be there yet")
	cmd.Flags().StringVar(&man, "man", "", "write man pages below this folder, in man1 and man7")
	exclusive(cmd, "list", "html", "man")
	return cmd
}

// writeSite writes the site into a folder.
func (a *app) writeSite(dir string) error {
	files, err := built()
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return usagef("--html: %s is there already: name another folder, or remove it", dir)
	}
	if err := os.CopyFS(dir, files); err != nil {
		return fmt.Errorf("write the site: %w", err)
	}
	fmt.Fprintf(a.out, "Written. Open %s\n", printable(filepath.Join(dir, "index.html")))
	return nil
}

// writeMan writes man pages where man looks for them below a folder.
func (a *app) writeMan(dir string) error {
	pages, err := ManPages()
	if err != nil {
		return err
	}
	for name, page := range pages {
		path := filepath.Join(dir, "man"+name[len(name)-1:], name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write man pages: %w", err)
		}
		if err := os.WriteFile(path, page, 0o644); err != nil { //nolint:gosec // everybody may read them
			return fmt.Errorf("write man pages: %w", err)
		}
	}
	fmt.Fprintf(a.out, "%d man pages are below %s. Read one with: man -M %[2]s lyceum\n", len(pages), printable(dir))
	return nil
}

// readDocs opens the site in a browser, and serves it if nobody does.
func (a *app) readDocs(ctx context.Context, page string) error {
	home, err := config.Home(a.homeFlag)
	if err != nil {
		return err
	}
	if note, err := client.Look(home); err == nil {
		link := note.Pages[0] + "docs/" + page
		fmt.Fprintln(a.out, "The documents are at "+link)
		openBrowser(link)
		return nil
	}
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve the documents: %w", err)
	}
	server := &http.Server{Handler: http.FileServerFS(handbook{}), ReadHeaderTimeout: docsPatience}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	link := "http://" + door.Addr().String() + "/" + page
	fmt.Fprintf(a.out, "The documents are at %s until ctrl-C\n", link)
	openBrowser(link)
	if err := server.Serve(door); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the documents: %w", err)
	}
	return nil
}

// ManPages are the man pages of all commands, in section 1, and of all documents, in section 7.
func ManPages() (map[string][]byte, error) {
	version := thisBuild().recorded()
	pages, err := site.Man(docs.Files, version)
	if err != nil {
		return nil, err
	}
	root := (&app{}).root()
	pages["lyceum.1"] = manOf(root, version)
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" {
			pages["lyceum-"+c.Name()+".1"] = manOf(c, version)
		}
	}
	return pages, nil
}

// manOf is the man page of a command, with those below it; that of lyceum itself names all.
func manOf(c *cobra.Command, version string) []byte {
	var b bytes.Buffer
	b.WriteString(site.Head(strings.ReplaceAll(c.CommandPath(), " ", "-"), 1, version, c.Short))
	manBody(&b, c, ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS")
	for _, below := range c.Commands() {
		if below.Hidden || below.Name() == "help" {
			continue
		}
		if !c.HasParent() {
			if below == c.Commands()[0] {
				b.WriteString(".SH COMMANDS\n")
			}
			fmt.Fprintf(&b, ".TP\n\\fBlyceum\\-%s\\fR(1)\n%s\n", site.Escape(below.Name()), site.Escape(below.Short))
			continue
		}
		fmt.Fprintf(&b, ".SH %s\n%s.\n", strings.ToUpper(site.Escape(below.Name())), site.Escape(below.Short))
		manBody(&b, below, ".PP", ".PP", ".PP")
	}
	b.WriteString(".SH SEE ALSO\n\\fBlyceum\\fR(1), \\fBlyceum\\-cli\\fR(7), lyceum docs\n")
	return b.Bytes()
}

func manBody(b *bytes.Buffer, c *cobra.Command, synopsis, description, options string) {
	fmt.Fprintf(b, "%s\n\\fB%s\\fR\n", synopsis, site.Escape(c.UseLine()))
	if c.Long != "" {
		fmt.Fprintf(b, "%s\n.nf\n%s\n.fi\n", description, site.Escape(c.Long))
	}
	first := true
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if first {
			b.WriteString(options + "\n")
			first = false
		}
		kind, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR %s\n%s\n", site.Escape("--"+f.Name), site.Escape(kind), site.Escape(usage))
	})
}
