package architect

// SnapshotHash is for tests.
var SnapshotHash = snapshotHash
