package world

import (
	"lyceum/internal/model"
	"lyceum/internal/quest"
)

const (
	declareStructure = "declare_structure"
	propose          = "propose"
	try              = "try"
	finish           = "finish"
	giveMarks        = "give_marks"
)

// makerTools are the maker's, judgeTools the judges'. fileTools are those of the world that touch
// files and run nothing; coreTools those of the core that ask or read.
var (
	makerTools = []string{declareStructure, propose, try, finish}
	judgeTools = []string{giveMarks}
	fileTools  = []string{"delete_file", "edit_file", "edit_files", "glob", "grep", "list_files", "move_file", "read_file", "write_file"}
	coreTools  = []string{"ask_person", quest.ReadResult}
)

const (
	placeSchema = `{"type":"object","additionalProperties":false,"properties":{"role":{"type":"string","description":"the role in the accessibility tree, such as button"},"name":{"type":"string","description":"the accessible name; of a program's lever the argument that it is called with, of its file the path"}}}`
	stepsSchema = `{"type":"array","maxItems":20,"items":{"type":"object","additionalProperties":false,"required":["do"],"properties":{` +
		`"do":{"type":"string","enum":["click","type","press","select","wait","run"],"description":"of a page click, type, press, select, wait; of a program run"},` +
		`"at":` + placeSchema + `,"text":{"type":"string","description":"what is typed, pressed or selected"},"milliseconds":{"type":"integer","description":"how long a wait is"},` +
		`"args":{"type":"array","items":{"type":"string"},"description":"what a program is run with"},"input":{"type":"string","description":"what a program reads from its standard input"}}}}`
	conditionSchema = `{"type":"object","additionalProperties":false,"required":["kind"],"properties":{` +
		`"kind":{"type":"string","enum":["present","absent","text","value","checked","disabled","focused","count","console","dialog","request","title","exit","output","error","file"],"description":"of a page present to title, of a program exit to file"},` +
		`"at":` + placeSchema + `,"how":{"type":"string","enum":["is","contains"],"description":"default is"},"not":{"type":"boolean"},` +
		`"number":{"type":"integer","description":"a count or an exit code"},"path":{"type":"string","description":"of a file"},"text":{"type":"string"}}}`
	storiesSchema = `{"type":"array","maxItems":20,"items":{"type":"object","additionalProperties":false,"required":["name","intent"],"properties":{` +
		`"name":{"type":"string"},"intent":{"type":"string","description":"what somebody wants"},"steps":` + stepsSchema + `,"expect":{"type":"array","maxItems":20,"items":` + conditionSchema + `,"description":"what must be seen at the end"}}}}`
	attemptSchema = `"attempt":{"type":"integer","minimum":1,"description":"the number of the attempt"}`
)

func partSchema(kinds, more, required string) string {
	return `{"type":"array","items":{"type":"object","additionalProperties":false,"required":["name","kind"` + required + `],"properties":{"name":{"type":"string"},"kind":{"type":"string","enum":[` + kinds + `]}` + more + `,"at":` + placeSchema + `}}}`
}

// tools are the society's own. Their texts are part of the rules: a quest pins them.
var tools = []quest.OwnTool{
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: declareStructure, Description: "Say what you are going to make, in closed words: objects, channels, levers, loops, blocks. It stands for what you declared before, and what you propose afterwards claims to have it. Every lever is in a loop, every loop has a response that is seen in a channel: what is declared is looked for, and counts as predicted when you try.",
			Schema: `{"type":"object","additionalProperties":false,"properties":{` +
				`"objects":` + partSchema(`"nested","relational","list","steps"`, "", "") + `,` +
				`"channels":` + partSchema(`"text","binary","selection","audio","video"`, "", "") + `,` +
				`"levers":` + partSchema(`"affordance","mechanic","game"`, `,"when":{"type":"string","enum":["instant","progressive","delayed"]}`, `,"when"`) + `,` +
				`"loops":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["name","lever","channel","response"],"properties":{"name":{"type":"string"},"lever":{"type":"string","description":"its name"},"channel":{"type":"string","description":"its name"},"response":{"type":"string","description":"a text that is seen in the channel then"}}}},` +
				`"blocks":` + partSchema(`"pool","stream","wall","thread","grid"`, "", "") + `}}`},
	},
	{
		Step: quest.PreparedTool, Folder: "path", Paths: []string{"path"},
		Tool: model.Tool{Name: propose, Description: "Hand in what you have made: the folder at path, as it is now. Rules look at it, judges may read it, then your stories and the author's are run, and the first tier that fails stops it. You are told what was found. Nothing of it runs before it has passed. A page begins with index.html.",
			Schema: `{"type":"object","additionalProperties":false,"required":["path","intent","stories"],"properties":{"path":{"type":"string","description":"a folder of your home"},"intent":{"type":"string","minLength":1,"maxLength":500,"description":"what it is for"},"stories":` + storiesSchema + `}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: try, Description: "Do something to an attempt that has passed tiers 1 and 2, and see what happens. First say what you expect, each condition with a probability in thousandths: that is recorded before anything is done. You are shown what you predicted beside what was seen.",
			Schema: `{"type":"object","additionalProperties":false,"required":["attempt","steps","expect"],"properties":{` + attemptSchema + `,"steps":` + stepsSchema +
				`,"expect":{"type":"array","minItems":1,"maxItems":20,"items":{"type":"object","additionalProperties":false,"required":["condition","probability"],"properties":{"condition":` + conditionSchema + `,"probability":{"type":"integer","minimum":0,"maximum":1000,"description":"in thousandths"}}}}}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: finish, Description: "End the quest with an attempt that passed every tier, and a few words about it.",
			Schema: `{"type":"object","additionalProperties":false,"required":["attempt","text"],"properties":{` + attemptSchema + `,"text":{"type":"string","minLength":1}}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: giveMarks, Description: "Give your marks for what you were shown: one for each criterion, 0 to 1000, each with a quotation from it that shows why, word for word. 700 is enough.",
			Schema: `{"type":"object","additionalProperties":false,"required":["marks"],"properties":{"marks":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["criterion","mark","quotation"],"properties":{"criterion":{"type":"string"},"mark":{"type":"integer","minimum":0,"maximum":1000},"quotation":{"type":"string","minLength":1,"maxLength":300}}}}}}`},
	},
}
