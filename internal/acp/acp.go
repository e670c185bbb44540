// Package acp speaks the Agent Client Protocol, version 1.
//
// The translation makes session/update notifications of a quest's events, the same for
// whoever reads them: the HTTP stream, an editor, a session that is loaded again. What a
// model says while it speaks becomes chunks, and what came live does not come again with the
// answer.
//
// A Conn is one side of a connection, agent or client. The other side may be anything: what it
// sends is bounded in size and number, and whatever it does wrong is answered, refused or
// recorded, and ends the connection only when it is too often.
package acp
