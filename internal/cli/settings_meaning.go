package cli

// meaning is what a key is for, and what goes by it.
type meaning struct{ about, reader string }

// The readers that many keys have.
const (
	everyQuest   = "every quest that is made or run"
	itsModels    = "models of the provider"
	thatModel    = "quests with the model: what they cost, and how much is sent"
	thatExecutor = "quests whose agents are this executor"
	preparing    = "the preparing of homes"
	everyServer  = "quests that are made, besides servers of their own"
	whoSigns     = "quests that are run while the home has a key; verify"
	theOffice    = "lyceum serve, run and chat, which receive and send"
)

// meanings are those of all keys of config.yaml, with * for a name of the user's, and of the secrets
// that the file names.
var meanings = map[string]meaning{
	"model":             {"the model of quests that name none", everyQuest},
	"retry":             {"how long a model that is not available is tried", everyQuest},
	"patience":          {"how long a quest waits for a provider that is away, before it is paused", everyQuest},
	"reserve":           {"how much of the disk stays free", "whatever stores files"},
	"ledger":            {"what keeps the events of quests: the home, or PostgreSQL", "every command that opens the home"},
	"blobs":             {"what keeps the files of quests: the home, or an S3 store", "every command that opens the home"},
	"outside_cost":      {"what a quest that another program runs may cost, in dollars", "ACP, MCP and A2A clients"},
	"confirm_cost":      {"a run that is estimated to cost more, in dollars, is confirmed first; 0 for every one", "lyceum run and ask"},
	"weak_limits":       {"computers start where memory is counted only in part", "agents' computers"},
	"notify":            {"a line for the shell when a quest asks something, and when it has ended", "lyceum serve and run"},
	"private_addresses": {"addresses of private networks that may be connected to", "MCP servers and gateways that quests name"},
	"repos":             {"folders that requests may have worked on", "quests that are made by the page or the API"},
	"repos.*":           {"a folder that requests may have worked on", "quests that are made by the page or the API"},

	"computer":                {"what agents of quests may write and read that do not say it themselves", "quests made from now on, and imported ones"},
	"computer.allow_write":    {"folders that can be written to", "quests made from now on, and imported ones"},
	"computer.deny_read":      {"names of files that agents cannot read", "quests made from now on, and imported ones"},
	"embeddings":              {"where vectors of texts come from", "searches"},
	"embeddings.url":          {"the server of vectors", "searches"},
	"embeddings.model":        {"the model that makes vectors", "searches"},
	"embeddings.key_variable": {"the variable that holds the server's key", "searches"},
	"embeddings.key":          {"the server's key", "searches"},

	"providers":                {"servers of models that Lyceum does not know, and what is different about those it does", everyQuest},
	"providers.*.api":          {"how it is spoken with", itsModels},
	"providers.*.url":          {"where it is reached", itsModels},
	"providers.*.key_variable": {"the variable that holds its key, and the key's name in the keyring", itsModels},
	"providers.*.key":          {"its key: in a variable, or in the keyring", itsModels},
	"providers.*.insecure":     {"the key may go over http to another machine", itsModels},
	"providers.*.concurrency":  {"how many calls may be under way", itsModels},
	"providers.*.silence":      {"how long it may say nothing", itsModels},
	"providers.*.dialect":      {"how its models are told of tools: native, or as text", itsModels},

	"models":               {"prices and sizes of models", everyQuest},
	"models.*.context":     {"how many tokens it can see", thatModel},
	"models.*.max_output":  {"how many tokens it can answer with", thatModel},
	"models.*.pictures":    {"whether it can see pictures", thatModel},
	"models.*.dialect":     {"how it is told of tools: native, or as text", thatModel},
	"models.*.input":       {"dollars for a million tokens of input", thatModel},
	"models.*.output":      {"dollars for a million tokens of output", thatModel},
	"models.*.cached":      {"dollars for a million tokens from the provider's cache", thatModel},
	"models.*.cache_write": {"dollars for a million tokens that are put into that cache", thatModel},

	"executors":                {"outside agents", "quests that name one"},
	"executors.*.folder":       {"where its programs are on this machine", thatExecutor},
	"executors.*.command":      {"the program, and its arguments", thatExecutor},
	"executors.*.variables":    {"the variables of its environment, by name", thatExecutor},
	"executors.*.files":        {"files that are written before it is started, by name", thatExecutor},
	"executors.*.wire":         {"the format in which it asks for models", thatExecutor},
	"executors.*.mcp":          {"how it takes tools", thatExecutor},
	"executors.*.mode":         {"the mode it is given", thatExecutor},
	"executors.*.authenticate": {"the method that it is signed in by", thatExecutor},
	"executors.*.version":      {"the only version that is used", thatExecutor},
	"executors.*.no_read":      {"it has no tool of Lyceum's to read files", thatExecutor},
	"executors.*.reported":     {"it runs its commands by itself, and only its word is known of them", thatExecutor},

	"registries":              {"hosts with packages that want a credential", preparing},
	"registries.*.host":       {"the host", preparing},
	"registries.*.header":     {"the header that holds the credential", preparing},
	"registries.*.variable":   {"the variable that holds the credential", preparing},
	"registries.*.credential": {"the credential", preparing},
	"registries.*.variables":  {"variables that the command gets, by name", preparing},

	"mcp":                  {"servers of tools", everyServer},
	"mcp.*.run":            {"a line for the shell of the agent's computer", everyServer},
	"mcp.*.url":            {"where it is reached", everyServer},
	"mcp.*.tools":          {"the tools that agents are offered", everyServer},
	"mcp.*.headers":        {"headers of each request, by name", everyServer},
	"mcp.*.headers.value":  {"what the header's variable holds", everyServer},
	"mcp.*.repeatable":     {"tools whose calls do no harm when they are made twice", everyServer},
	"mcp.*.trust":          {"what you think of it", "policies"},
	"mcp.*.login":          {"how Lyceum logs in", everyServer},
	"mcp.*.login.grant":    {"a person at a browser, or the client's secret alone", everyServer},
	"mcp.*.login.client":   {"the client's id", everyServer},
	"mcp.*.login.secret":   {"the client's secret, which a variable holds", everyServer},
	"mcp.*.login.issuer":   {"who issued them", everyServer},
	"mcp.*.login.audience": {"whom tokens may be for besides the server", everyServer},
	"mcp.*.sampling":       {"it may have the agent's model asked", everyServer},
	"mcp.*.timeout":        {"how long a call may take without a sign of progress", everyServer},
	"mcp.*.log":            {"how grave what it logs must be to be told", everyServer},
	"mcp.*.pages":          {"how many pages its lists may have", everyServer},
	"mcp.*.retry":          {"how often a connection that broke is made again", everyServer},

	"checkpoints":             {"after how many events of a quest that runs there is a checkpoint", whoSigns},
	"witnesses":               {"those who cosign checkpoints, and are believed", whoSigns},
	"witnesses.*.url":         {"where it is asked", whoSigns},
	"witnesses.*.public_key":  {"the key by which it cosigns", whoSigns},
	"timestamps":              {"an authority that says when it was shown a checkpoint", whoSigns},
	"timestamps.url":          {"where it is asked", whoSigns},
	"timestamps.certificates": {"a file with the certificates that its time stamps must lead to", "verify"},
	"witness":                 {"for whom the server is a witness", "lyceum serve"},
	"witness.logs":            {"the public keys of those whose logs it knows", "lyceum serve"},
	"witness.first_use":       {"the key of a name that it does not know is taken over", "lyceum serve"},

	"connectors":            {"ways by which people elsewhere talk with quests", theOffice},
	"connectors.*.driver":   {"which service it is", theOffice},
	"connectors.*.allow":    {"who may do what", theOffice},
	"connectors.*.setting":  {"a setting of its driver", theOffice},
	"connectors.*.variable": {"the variable that holds a secret, and the secret's name in the keyring", theOffice},
	"connectors.*.key":      {"a secret of its driver: in a variable, or in the keyring", theOffice},
}
