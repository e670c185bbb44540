package runtime

import (
	"context"
	"os"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Creation is a quest that is being made, as a workshop sees it.
type Creation struct {
	c    *creation
	root *os.Root
}

// Runtime is what the quest is made on, Spec what it is made of.
func (c *Creation) Runtime() *Runtime { return c.c.rt }
func (c *Creation) Spec() *quest.Spec { return c.c.plan.Spec }

// Open opens the folder that the spec names under a key.
func (c *Creation) Open(key, name string) (*os.Root, error) {
	return c.c.openFolder(c.root, key, name)
}

// QuestionSize is how many bytes the question has.
func (c *Creation) QuestionSize() int { return len(c.c.question) }

// Folder copies one that the spec names under a key.
func (c *Creation) Folder(ctx context.Context, key, name string) (*event.TreeRef, []blob.Skipped, error) {
	return c.c.folder(ctx, c.root, key, name)
}

// Pin stores a text that the quest is made with.
func (c *Creation) Pin(ctx context.Context, data []byte) (event.Ref, error) {
	return c.c.pin(ctx, data)
}

// Say tells the person who makes the quest.
func (c *Creation) Say(format string, args ...any) { c.c.say(format, args...) }
