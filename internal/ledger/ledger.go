// Package ledger stores the events of quests, in order, for ever.
//
// A quest has one writer at a time. Append names the seq it expects to write
// next, by the events it brings; whoever is late gets ErrConflict and must fold
// again before it decides anything. There is no lock to forget to release. A
// Claim only spares two processes the trouble of finding out that way.
//
// When Append returns, the events are on disk. Followers are told only then, so
// nobody ever acts on an event that a crash could take back. A crash can leave
// events that nobody was told of; the writer finds them when it folds, and
// appending the very same events again is answered with success.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"lyceum/internal/event"
)

// The errors every driver returns, wrapped with what was being done.
var (
	// ErrConflict says that the quest has moved on: the events do not follow
	// its head. Nothing was written.
	ErrConflict = errors.New("the quest has moved on: another writer was faster")
	// ErrNoQuest says that there is no quest of that name. What drivers return is a
	// *NoQuestError, which has the name.
	ErrNoQuest = errors.New("no such quest")
	// ErrNoBlob says that the ledger's own database does not hold that blob.
	ErrNoBlob = errors.New("no such blob")
	// ErrClaimed says that another process, or another part of this one, runs
	// the quest.
	ErrClaimed = errors.New("the quest is running in another process")
	// ErrLost says that a claim was lost while its owner had it: the store holds the owner for
	// dead, and the quest may be running elsewhere by now.
	ErrLost = errors.New("the claim on the quest was lost: it goes on elsewhere, or with the next run")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("the ledger is closed")
	// ErrFull says that the disk is full. Nothing was written.
	ErrFull = errors.New("the disk is full")
	// ErrNewer says that the database was made by a newer Lyceum.
	ErrNewer = errors.New("the ledger was written by a newer Lyceum")
	// ErrToken says that there is a token of that ID already.
	ErrToken = errors.New("there is a token of that name")
	// ErrNoToken says that there is no token of that ID.
	ErrNoToken = errors.New("no such token")
	// ErrCorrupt says that the storage below the events is damaged.
	ErrCorrupt = errors.New("the ledger's database is damaged")
)

// NoQuestError says that there is no quest of a name. It is ErrNoQuest.
type NoQuestError struct{ Quest string }

func (e *NoQuestError) Error() string { return ErrNoQuest.Error() } // whoever wraps it names the quest

func (e *NoQuestError) Unwrap() error { return ErrNoQuest }

// DamageError says where a quest's ledger stops being true.
type DamageError struct {
	Quest string
	// Seq is the first event that is missing or does not hold.
	Seq uint64
	Err error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("ledger of quest %s is damaged at seq %d: %v", e.Quest, e.Seq, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// MaxInlineBlob is how large a blob may be to travel in a batch. A larger one
// is a file, and must be durable before the batch that names it.
const MaxInlineBlob = 64 << 10

// Batch is what lands together or not at all: events of one quest, and the
// small blobs they name.
type Batch struct {
	// Quest is the name under which the store keeps the quest.
	Quest string
	// Events follow each other, and the first follows the quest's head.
	Events []event.Event
	Blobs  [][]byte
	// Inbox is for a quest that comes from elsewhere with commands already taken:
	// those posted here are numbered above it. Checkpoints are words about it that come along, or about
	// the quest that it was forked of; they are kept if the quest begins with this batch.
	Inbox       int64
	Checkpoints []Checkpoint
}

// Head is the end of a quest's ledger.
type Head struct {
	Quest string
	Seq   uint64
	Hash  event.Hash
}

// Log is the ordered events of many quests.
type Log interface {
	// Append makes a batch durable. ErrConflict means that its first event does
	// not follow the quest's head; then nothing is written. A quest comes into
	// being with its event 1. Appending again what is already there succeeds.
	// If ctx ends while the batch is being written, Append still waits to learn
	// the outcome.
	Append(ctx context.Context, b Batch) error

	// Head returns the last durable event's place, or ErrNoQuest.
	Head(ctx context.Context, quest string) (Head, error)

	// Read yields the events of a quest from seq on, up to the last durable one.
	// Each is checked against the hash before it; at the first that is missing
	// or changed it yields a *DamageError and ends.
	Read(ctx context.Context, quest string, seq uint64) iter.Seq2[event.Event, error]

	// Lines yields what Read does as bare lines, of which nothing is checked: for
	// looking through a long quest for what is then read with Read.
	Lines(ctx context.Context, quest string, seq uint64) iter.Seq2[[]byte, error]

	// Follow yields the events of a quest from seq on, first those stored, then
	// each new one as it becomes durable. It never skips and never repeats: a
	// slow reader is slowed. It ends with ctx's error, or ErrNoQuest when the
	// quest is removed.
	Follow(ctx context.Context, quest string, seq uint64) iter.Seq2[event.Event, error]

	// Quests returns the heads of all quests, sorted by name.
	Quests(ctx context.Context) ([]Head, error)

	// Remove deletes a whole quest. There is no way to delete less.
	Remove(ctx context.Context, quest string) error
}

// Command is a word to a quest from someone who does not own it.
type Command struct {
	// ID numbers the commands of a quest: 1, 2, 3… unless its first batch said
	// where to begin. The store sets it.
	ID int64
	// Key makes posting the same command again harmless, if it is not empty.
	Key string
	// Body is an input of the catalogue, such as *event.UserMessage, without its
	// inbox number.
	Body event.Body
}

// Inbox holds the commands that wait for a quest's owner. The owner takes each
// exactly once because the input it makes of it carries the ID, and lands in
// the ledger with everything it led to; after a crash it asks for what comes
// after the last ID in the ledger.
type Inbox interface {
	// Post stores a command and returns its ID when it is durable.
	Post(ctx context.Context, quest string, c Command) (int64, error)
	// Commands returns those with an ID above after, in order.
	Commands(ctx context.Context, quest string, after int64) ([]Command, error)
	// Dismiss takes a command out of the inbox of which nothing came: no event tells that
	// it was taken. Its ID and its key are not given again.
	Dismiss(ctx context.Context, quest string, id int64) error
	// Posted returns a channel that is sent to soon after anything was posted, by
	// any process. It may be sent to for no reason.
	Posted(quest string) (posted <-chan struct{}, stop func())
}

// Token is a credential for a server, as the store keeps it: never the secret
// itself.
type Token struct {
	// ID is what people call the token; it is no secret.
	ID string
	// Hash is the SHA-256 of the secret.
	Hash event.Hash
	// Scope says what the token opens. The store does not look at it.
	Scope string
	Note  string
	// Created is when the token was made, Expires from when on it opens nothing,
	// 0 for never. The store only keeps them.
	Created, Expires event.Time
}

// Tokens keeps credentials. A server of the home sees at once what any process
// has put or dropped: it must ask for each request, or soon again.
type Tokens interface {
	// PutToken keeps a token; when it returns the token is durable. An ID that
	// exists is refused with ErrToken, and the token of that ID stays as it is.
	PutToken(ctx context.Context, t Token) error
	// Tokens returns them all, the oldest first, expired ones too.
	Tokens(ctx context.Context) ([]Token, error)
	// DropToken forgets a token for good, or returns ErrNoToken.
	DropToken(ctx context.Context, id string) error
}

// Note is something small that a home keeps and that is no event of a quest: what is yet to be
// delivered to people elsewhere, say. The store looks at nothing in it.
type Note struct {
	// Number is the order in which notes were first put. The store sets it.
	Number int64
	// Kind and Key name the note. Notes of a kind that begins with Grant open something to
	// somebody: they are in no copy of the home.
	Kind, Key string
	// Due is when somebody is to look at the note next.
	Due  event.Time
	Body []byte
}

// Grant begins the kinds of notes that are credentials.
const Grant = "grant "

// Notes keeps notes. All processes of the home see the same ones.
type Notes interface {
	// SwapNote puts a note where one of its kind and key has the body old, nil for where there
	// is none, and reports whether it did. When it returns, the note is durable. A note without
	// a body takes the old one away. A Number never changes.
	SwapNote(ctx context.Context, n Note, old []byte) (bool, error)
	// Note returns the note of a kind and key; without a body, if there is none.
	Note(ctx context.Context, kind, key string) (Note, error)
	// Notes returns those of a kind that are due at a time, the earliest first, at most so many.
	Notes(ctx context.Context, kind string, due event.Time, most int) ([]Note, error)
}

// Checkpoint is somebody's word for the first events of a quest, as the store keeps it. What the word
// is worth, package proof says; the store looks at nothing in it.
type Checkpoint struct {
	// Origin names the log that it is of, Size how many events it is for.
	Origin string
	Size   uint64
	// Own says that it was made by this home, of a quest as it goes on here.
	Own bool
	// Edge is the tree over the events at that size, in its saved form; empty if they are not all
	// there.
	Edge []byte
	Body []byte
}

// Checkpoints keeps checkpoints. They go with their quest.
type Checkpoints interface {
	// PutCheckpoint keeps a checkpoint of a quest, in place of the one of its origin and size.
	// When it returns, the checkpoint is durable. It returns ErrNoQuest if there is no such quest,
	// and refuses one of this home's own for more events than the quest has. Somebody else's it
	// keeps: that there were more events is worth knowing.
	PutCheckpoint(ctx context.Context, quest string, c Checkpoint) error
	// Checkpoints returns those of a quest, the smallest first; with a positive most, the last so
	// many. A quest that is not there has none.
	Checkpoints(ctx context.Context, quest string, most int) ([]Checkpoint, error)
}

// Glance is what a list says of a quest as of one head. The store looks at nothing in it.
type Glance struct {
	Quest string
	// Hash is the head's: once the quest has moved on, the glance says nothing any more.
	Hash event.Hash
	Body []byte
}

// Glances keeps them beside the heads, so that a list costs one small read for each quest. They are a cache: nothing
// waits for the disk, one that a crash takes away is made again, and no copy of the home has them.
type Glances interface {
	// PutGlances keeps glances in a form, as a version of the program writes it. Each takes the place of the one
	// that its quest had in that form, of whatever version.
	PutGlances(ctx context.Context, form, version string, list []Glance) error
	// Glances returns all of a form and version. Their heads may have moved since.
	Glances(ctx context.Context, form, version string) ([]Glance, error)
}

// Claim is the ownership of a quest. A store on one machine never takes one away; one that many
// machines share gives the claim of an owner that it has not heard of for too long to another.
type Claim interface {
	// Lost is closed once the claim was lost. What is appended under it from then on, by the
	// store that gave it, is ErrConflict. It may be nil: then the claim is never lost.
	Lost() <-chan struct{}
	// Release gives the claim back. It may be called again, and of a lost claim.
	Release()
}

// Store is all that a driver offers.
type Store interface {
	Log
	Inbox
	Tokens
	Notes
	Checkpoints
	Glances
	Wants
	// Blob returns a small blob that came with a batch, or ErrNoBlob.
	Blob(ctx context.Context, h event.Hash) ([]byte, error)
	// Claim makes the caller the quest's only owner until it releases the claim,
	// loses it, or its process ends, however it ends. Others get ErrClaimed.
	Claim(ctx context.Context, quest string) (Claim, error)
	// Claimed reports whether anybody owns the quest now.
	Claimed(quest string) (bool, error)
	Close() error
}

// Check tells whether the events of b form a chain that could follow a head.
func (b Batch) Check() error {
	if !event.ValidName(b.Quest) {
		return fmt.Errorf("quest name %q: want %s", b.Quest, event.NameRule)
	}
	if len(b.Events) == 0 {
		return errors.New("a batch without events")
	}
	for i, e := range b.Events {
		if !e.Sealed() {
			return fmt.Errorf("event %d of the batch was not made by event.Seal", i)
		}
		if i > 0 && (e.Seq != b.Events[i-1].Seq+1 || e.Prev() != b.Events[i-1].Hash) {
			return fmt.Errorf("event %d does not follow event %d", e.Seq, b.Events[i-1].Seq)
		}
	}
	for _, data := range b.Blobs {
		if len(data) > MaxInlineBlob {
			return fmt.Errorf("a blob of %d bytes is too large for a batch", len(data))
		}
	}
	return nil
}
