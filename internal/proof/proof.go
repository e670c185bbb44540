// Package proof says what a stranger can know of a quest's ledger, and from whom.
//
// A hash chain shows that nothing was changed since somebody else knew its head. Checkpoints make
// "somebody else" and "since" exact: an owner's key signs the root of a tree over the events
// (Checkpoint, Note), an authority says when it was shown the checkpoint (Stamp), and witnesses
// sign it only if it begins with the last one that they saw (Request, CheckConsistency). A Judge
// reads the events once and says which checkpoints hold, by whose word.
//
// What it cannot show: that an owner alone told the truth. Whoever has the key can write another
// history and sign that. Only a checkpoint that someone else knew before (a witness, an authority,
// a reader who kept it) binds him, from there back; and nobody can show that there is no other
// quest which he did not publish.
//
// The formats are those of C2SP (signed-note, tlog-checkpoint, tlog-cosignature, tlog-witness),
// RFC 6962 and RFC 3161. The package looks at no clock, disk or network. Everything that it reads
// may be a forger's: it is bounded, and refused if it could be written in another way.
package proof
