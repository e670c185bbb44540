package identity

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/keyring"
	"lyceum/internal/proof"

	"golang.org/x/crypto/scrypt"
)

// The variables that servers give a key by.
const (
	// SecretVariable holds the secret itself, FileVariable the name of a file that does.
	SecretVariable = "LYCEUM_KEY"
	FileVariable   = "LYCEUM_KEY_FILE"
	// PassphraseVariable opens a file that wants a passphrase.
	PassphraseVariable = "LYCEUM_KEY_PASSPHRASE"
)

var (
	// ErrNone says that the home has no key: its quests are not signed.
	ErrNone = errors.New("this home has no key: lyceum key make makes one")
	// ErrPassphrase says that a file wants a passphrase that nobody gave, or another.
	ErrPassphrase = errors.New("the key is in a file that wants a passphrase: put it into " + PassphraseVariable)
)

// Secret is a key as a text, in the form of golang.org/x/mod/sumdb/note. Whoever has it can sign.
func Secret(s proof.Signer) string {
	v := s.Verifier(proof.Author)
	return fmt.Sprintf("PRIVATE+KEY+%s+%08x+%s", v.Name, v.ID(), base64.StdEncoding.EncodeToString(append([]byte{byte(proof.Author)}, s.Seed()...)))
}

// ParseSecret reads what Secret wrote. No error has a piece of the secret in it.
func ParseSecret(text string) (proof.Signer, error) {
	wrong := errors.New("it is not a secret key: want PRIVATE+KEY+name+8 hex digits+base64, as lyceum key export --secret writes it")
	parts := strings.Split(strings.TrimSpace(text), "+")
	if len(parts) < 5 || parts[0] != "PRIVATE" || parts[1] != "KEY" {
		return proof.Signer{}, wrong
	}
	data, err := base64.StdEncoding.Strict().DecodeString(strings.Join(parts[4:], "+"))
	if err != nil || len(data) != 33 || data[0] != byte(proof.Author) {
		return proof.Signer{}, wrong
	}
	s, err := proof.NewSigner(parts[2], data[1:])
	if err == nil && fmt.Sprintf("%08x", s.Verifier(proof.Author).ID()) != parts[3] {
		err = wrong
	}
	return s, err
}

// How long it takes to try a passphrase: about a tenth of a second, and 64 MB.
const (
	cost   = 1 << 16
	blocks = 8
)

const sealedForm = "lyceum key/v1"

// seal writes a secret so that a passphrase opens it.
func seal(s proof.Signer, passphrase string) (string, error) {
	salt, nonce := make([]byte, 16), make([]byte, 12)
	rand.Read(salt) // never fails
	rand.Read(nonce)
	box, err := box(passphrase, salt)
	if err != nil {
		return "", err
	}
	head := sealedForm + "\n" + s.String() + "\n" + base64.StdEncoding.EncodeToString(salt) + "\n"
	return head + base64.StdEncoding.EncodeToString(box.Seal(nonce, nonce, []byte(Secret(s)), []byte(head))) + "\n", nil
}

func box(passphrase string, salt []byte) (cipher.AEAD, error) {
	key, err := scrypt.Key([]byte(passphrase), salt, cost, blocks, 1, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// unseal opens what seal wrote, or reads a secret that stands there as it is.
func unseal(text, passphrase string) (proof.Signer, error) {
	lines := strings.Split(text, "\n")
	if lines[0] != sealedForm {
		return ParseSecret(text)
	}
	if passphrase == "" {
		return proof.Signer{}, ErrPassphrase
	}
	if len(lines) != 5 {
		return proof.Signer{}, errors.New("the file of the key is damaged")
	}
	salt, err1 := base64.StdEncoding.DecodeString(lines[2])
	data, err2 := base64.StdEncoding.DecodeString(lines[3])
	if err1 != nil || err2 != nil || len(data) < 12 {
		return proof.Signer{}, errors.New("the file of the key is damaged")
	}
	box, err := box(passphrase, salt)
	if err != nil {
		return proof.Signer{}, err
	}
	secret, err := box.Open(nil, data[:12], data[12:], []byte(strings.Join(lines[:3], "\n")+"\n"))
	if err != nil {
		return proof.Signer{}, fmt.Errorf("%w: this one does not open it, or the file was changed", ErrPassphrase)
	}
	return ParseSecret(string(secret))
}

func account(v proof.Verifier) string { return fmt.Sprintf("signing-key-%08x", v.ID()) }

func secretFile(home string, v proof.Verifier) string {
	return filepath.Join(folder(home), fmt.Sprintf("%08x.key", v.ID()))
}

// Make makes a key and has the home sign by it from now on. Its secret goes to a place; a file wants
// a passphrase. The secret is safe before the book names the key.
func Make(ctx context.Context, home, name, place, passphrase string, now event.Time) (proof.Signer, error) {
	seed := make([]byte, 32)
	rand.Read(seed)
	s, err := proof.NewSigner(name, seed)
	if err != nil {
		return s, err
	}
	return s, adopt(ctx, home, s, place, passphrase, now)
}

func adopt(ctx context.Context, home string, s proof.Signer, place, passphrase string, now event.Time) error {
	b, err := Load(home)
	if err != nil {
		return err
	}
	v := s.Verifier(proof.Author)
	switch place {
	case Keyring:
		err = keyring.Put(ctx, account(v), Secret(s))
	case File:
		var text string
		if len(passphrase) < 8 {
			return fmt.Errorf("%w; a passphrase has at least 8 bytes", ErrPassphrase)
		}
		if text, err = seal(s, passphrase); err == nil {
			err = write(home, secretFile(home, v), []byte(text))
		}
	default:
		err = fmt.Errorf("a secret is kept in the %s or a %s, not in %q", Keyring, File, place)
	}
	if err != nil {
		return err
	}
	b.Own = append(b.Own, Own{Key: v.String(), Made: now, Place: place})
	slices.SortStableFunc(b.Own, newest)
	return b.Save(home)
}

// Rotate makes another key of the same name, which the one before names as the one that follows.
func Rotate(ctx context.Context, home string, from proof.Signer, place, passphrase string, now event.Time) (proof.Signer, error) {
	s, err := Make(ctx, home, from.Verifier(proof.Author).Name, place, passphrase, now)
	if err != nil {
		return s, err
	}
	n, err := proof.Rotate(from, s, int64(now/1_000_000))
	if err != nil {
		return s, err
	}
	return s, say(home, n)
}

// Revoke says that what a key signed from a time on is not to be believed.
func Revoke(home string, key proof.Signer, since event.Time) error {
	n, err := proof.Revoke(key, int64(since/1_000_000))
	if err != nil {
		return err
	}
	return say(home, n)
}

func say(home string, n proof.Note) error {
	b, err := Load(home)
	if err != nil {
		return err
	}
	if _, err := b.Hear(n.String()); err != nil {
		return err
	}
	return b.Save(home)
}

// Signer is what the home signs by, and where its secret is: in a variable, else in a file that a
// variable names, else wherever its own key is. ErrNone says that there is none.
func Signer(ctx context.Context, home string) (s proof.Signer, place string, err error) {
	passphrase := os.Getenv(PassphraseVariable)
	if text := os.Getenv(SecretVariable); strings.TrimSpace(text) != "" {
		s, err = ParseSecret(text)
		return s, Variable, told(SecretVariable, err)
	}
	if path := os.Getenv(FileVariable); path != "" {
		s, err = open(path, passphrase)
		return s, Variable, told(FileVariable, err)
	}
	b, err := Load(home)
	if err != nil {
		return s, "", err
	}
	v, ok := b.Current()
	if !ok {
		return s, "", ErrNone
	}
	if slices.ContainsFunc(b.Keys(), func(k proof.Key) bool { return k.Verifier == v && k.Revoked != 0 }) {
		return s, "", fmt.Errorf("the key %s was revoked: lyceum key make makes another", v)
	}
	s, err = Find(ctx, home, v, passphrase)
	return s, b.Own[len(b.Own)-1].Place, err
}

func told(variable string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	return nil
}

// Find is the secret half of a key of the home.
func Find(ctx context.Context, home string, v proof.Verifier, passphrase string) (s proof.Signer, err error) {
	b, err := Load(home)
	if err != nil {
		return s, err
	}
	i := slices.IndexFunc(b.Own, func(k Own) bool { return k.Key == v.String() })
	if i < 0 {
		return s, fmt.Errorf("%s is no key of this home", v)
	}
	switch b.Own[i].Place {
	case Keyring:
		var text string
		if text, err = keyring.Get(ctx, account(v)); err == nil && text == "" {
			err = fmt.Errorf("the keyring does not have the key %s: bring it back from where you kept a copy, or make another with lyceum key make", v)
		}
		if err == nil {
			s, err = ParseSecret(text)
		}
	case File:
		s, err = open(secretFile(home, v), passphrase)
	}
	if err == nil && s.Verifier(proof.Author) != v {
		err = fmt.Errorf("what is kept for the key %s is another", v)
	}
	return s, err
}

// open reads a secret from a file, which nobody else may read.
func open(path, passphrase string) (s proof.Signer, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("there is no file %s with a key", path)
	}
	if err != nil {
		return s, err
	}
	if info.Mode().Perm()&0o077 != 0 || info.Size() > 8<<10 {
		return s, fmt.Errorf("others can read %s, or it is too long for a key: chmod 600 it", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	return unseal(string(data), passphrase)
}
