// Package architecture has no code of its own: its tests hold the rules of
// docs/ARCHITECTURE.md against the source.
package architecture
