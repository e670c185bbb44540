package runtime

import (
	"io"
	"strings"

	"lyceum/internal/plain"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json/jsontext"
)

// told is what arguments of a tool say to others. Rules make what others read of those of a
// tool that they answer, and are not asked again what may stand there: so what is hidden goes
// here, where the arguments come in. Rules that fold an older ledger see what they saw.
//
// Arguments that are no JSON stay as they are: rules refuse them.
func (l *live) told(name, args string) string {
	own := l.state.Own(name)
	if own == nil || own.Step != quest.AnsweredTool {
		return args
	}
	var out strings.Builder
	from, to := jsontext.NewDecoder(strings.NewReader(args)), jsontext.NewEncoder(&out)
	changed := false
	for {
		token, err := from.ReadToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			return args
		}
		if token.Kind() == '"' {
			said := token.String()
			shown := plain.Told(said, plain.Controls)
			changed = changed || said != shown
			token = jsontext.String(shown)
		}
		if err := to.WriteToken(token); err != nil {
			return args
		}
	}
	if !changed {
		return args
	}
	return strings.TrimSuffix(out.String(), "\n")
}
