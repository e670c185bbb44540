// Command promptdoc prints docs/prompts.md: what agents are told, society by society, as a quest
// pins it.
package main

import (
	"fmt"
	"os"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society"
)

const top = `# What agents are told

Made by ` + "`make generate`" + ` of what the binary has. A quest pins these texts when it is made (the prompts
as blobs, the others in ` + "`quest.created`" + `), so another version of Lyceum goes on with its own.

Put your own in the place of any of them, by its name, with a file beside quest.yaml or below it:

` + "```yaml" + `
prompts:
  system: my-prompt.md
  standing: where-you-stand.md
` + "```" + `

Words such as ` + "`{{PROBLEM}}`" + ` are filled in: your text can use those that the one here has, and a prompt that has
` + "`{{PROBLEM}}`" + ` must keep it. ` + "`{{PROFILE}}`" + ` is the text of the agents' profile (` + "`lyceum profile show`" + `); a prompt without a
place for it gets it at its end. Texts that are no system prompt have 2,000 bytes at most.

Besides these, agents are told what their tools are and do, what tools answer, and why a policy refused something.
`

func main() {
	var b strings.Builder
	b.WriteString(top)
	b.WriteString("\n## In every society\n")
	write(&b, quest.CoreTexts())
	for _, soc := range society.All() {
		name := quest.NameOf(soc.Rules())
		fmt.Fprintf(&b, "\n## %s\n", strings.ToUpper(name[:1])+name[1:])
		if d, ok := soc.(quest.Described); ok {
			fmt.Fprintf(&b, "\nRules %s: %s.\n", soc.Rules(), d.About())
		}
		write(&b, soc.Texts())
	}
	if _, err := os.Stdout.WriteString(b.String()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write shows texts as they are: in a fence that none of them can end.
func write(b *strings.Builder, texts []event.NamedText) {
	for _, t := range texts {
		kind := ""
		if quest.IsPrompt(t.Name) {
			kind = ", a system prompt"
		}
		filled := ""
		if places := quest.Places(t.Text); len(places) > 0 {
			filled = " Filled in: `" + strings.Join(places, "`, `") + "`."
		}
		fmt.Fprintf(b, "\n### `%s`%s\n\n%s.%s\n\n````text\n%s\n````\n", t.Name, kind, when(t.Name), filled, t.Text)
	}
}

// when says when agents are told a text, where its words do not.
func when(name string) string {
	for prefix, text := range map[string]string{
		"system": "Before all else", "begin": "The first message, because the problem stands in the prompt", "compact": "The last message of a request for a summary, with `context: compact`",
		"summary": "Before the agent's own summary, with `context: compact`", "standing": "After a window was cut, every 20 turns, and when the computer is known",
		"notes": "A line of `standing`, for agents that can write files", "continue": "After an answer that was cut off", "cut": "After an answer that was cut off",
		"idle": "After an answer that called no tool", "contract": "When the agent is awarded a part of the plan",
	} {
		if name == prefix || strings.HasPrefix(name, prefix+"-") {
			return text
		}
	}
	return "When that has happened"
}
