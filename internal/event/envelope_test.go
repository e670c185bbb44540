package event_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"lyceum/internal/event"
)

// stranger has the method of a body but is not in the catalogue.
type stranger struct {
	Reason string `json:"reason"`
	typ    event.Type
}

func (s *stranger) Type() event.Type { return s.typ }

func TestSealRefuses(t *testing.T) {
	t.Parallel()
	failed := &event.QuestFailed{Reason: "x"}
	message := func(s string) event.Body { return &event.QuestFailed{Reason: s} }
	type refusal struct {
		quest string
		seq   uint64
		draft event.Draft
		why   string
	}
	with := func(change func(r *refusal)) refusal {
		r := refusal{quest: "golden", seq: 2, draft: event.Draft{Parent: 1, Time: noon, Actor: "agent-0", Tool: "shell", Body: failed}}
		change(&r)
		return r
	}
	quest := func(name string) refusal {
		return with(func(r *refusal) { r.quest, r.why = name, "quest name" })
	}
	actor := func(name string) refusal {
		return with(func(r *refusal) { r.draft.Actor, r.why = name, "actor" })
	}
	tool := func(name string) refusal {
		return with(func(r *refusal) { r.draft.Tool, r.why = name, "tool" })
	}
	body := func(b event.Body, why string) refusal {
		return with(func(r *refusal) { r.draft.Body, r.why = b, why })
	}
	for name, c := range map[string]refusal{
		"AQuestOutsideItsFolder":         quest("../x"),
		"AQuestWithoutAName":             quest(""),
		"AQuestOf64Letters":              quest(strings.Repeat("a", 64)),
		"AQuestInUpperCase":              quest("Golden"),
		"AQuestWithALeadingDash":         quest("-golden"),
		"AQuestWithASlash":               quest("a/b"),
		"AQuestWithADot":                 quest("a.b"),
		"AQuestWithAQuote":               quest(`a"b`),
		"AQuestWithAnUmlaut":             quest("größe"),
		"AQuestInInvalidUTF8":            quest("a\xff"),
		"AQuestWithALineBreak":           quest("a\n"),
		"NoActor":                        actor(""),
		"AnActorOf65Letters":             actor(strings.Repeat("a", 65)),
		"AnActorWithASpace":              actor("agent 0"),
		"AnActorWithAQuote":              actor(`a"`),
		"AnActorWithABackslash":          actor(`a\`),
		"AnActorWithAnUmlaut":            actor("ä"),
		"AnActorInInvalidUTF8":           actor("\xff"),
		"AnActorWithAControlCharacter":   actor("a\x00"),
		"AToolOf65Letters":               tool(strings.Repeat("a", 65)),
		"AToolWithASpace":                tool("a b"),
		"AToolWithAQuote":                tool(`"`),
		"AToolWithAnEmoji":               tool("\U0001f600"),
		"SeqZero":                        with(func(r *refusal) { r.seq, r.draft.Parent, r.why = 0, 0, "seq 0" }),
		"ASeqBeyondDoubles":              with(func(r *refusal) { r.seq, r.why = 1<<53+1, "seq 9007199254740993" }),
		"ItselfAsParent":                 with(func(r *refusal) { r.draft.Parent, r.why = 2, "parent 2" }),
		"ALaterParent":                   with(func(r *refusal) { r.draft.Parent, r.why = 3, "parent 3" }),
		"ATimeBefore1970":                with(func(r *refusal) { r.draft.Time, r.why = -1, "time -1" }),
		"ATimeAfter9999":                 with(func(r *refusal) { r.draft.Time, r.why = 253402300800_000000, "time 253402300800000000" }),
		"NoBody":                         body(nil, "no body"),
		"ABodyThatIsANilPointer":         body((*event.QuestFailed)(nil), "no body"),
		"ATypeThatIsNotInTheCatalogue":   body(&stranger{typ: "quest.invented"}, "not in the catalogue"),
		"ATypeThatWouldBreakTheLine":     body(&stranger{typ: `x","type":"quest.failed`}, "not in the catalogue"),
		"AStrangerUnderAKnownType":       body(&stranger{typ: "quest.failed"}, "not in the catalogue"),
		"AStructThatEmbedsAKnownBody":    body(struct{ *event.QuestFailed }{failed}, "not in the catalogue"),
		"ABodyOver16KiB":                 body(message(strings.Repeat("x", event.MaxBody)), "over the limit of 16384"),
		"ABodyThatIsOver16KiBOnceQuoted": body(message(strings.Repeat("\x01", event.MaxBody/5)), "over the limit of 16384"),
		"InvalidUTF8InABody":             body(message("a\xffb"), "UTF-8"),
		"ASurrogateInABody":              body(message("\xed\xa0\x80"), "UTF-8"),
		"AnIntegerOver2To53":             body(&event.UserMessage{Inbox: 1<<53 + 1}, "integer 9007199254740993"),
		"ANegativeIntegerOver2To53":      body(&event.UserMessage{Inbox: -1<<53 - 1}, "integer 9007199254740993"),
		"TheLargestUint64":               body(&event.TimerFired{Call: 1<<64 - 1}, "integer 18446744073709551615"),
		"AnIntegerAfterAQuoteInAString": body(
			&event.ToolCall{Answer: 1, ID: `\"`, Part: 1<<53 + 1}, "integer 9007199254740993"),
		"ATimeBefore1970InABody": body(&event.TimerSet{At: -1}, "time -1"),
		"ATimeAfter9999InABody":  body(&event.TimerSet{At: 253402300800_000000}, "time 253402300800000000"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := event.Seal(c.quest, c.seq, event.Hash{}, c.draft)
			if err == nil {
				t.Fatalf("Seal made %s", e.Line())
			}
			expectError(t, err, c.why)
		})
	}
}

func TestSealAccepts(t *testing.T) {
	t.Parallel()
	body := &event.QuestFailed{Reason: "x"}
	empty := len(`{"reason":""}`)
	for name, c := range map[string]struct {
		quest string
		seq   uint64
		draft event.Draft
	}{
		"TheShortestNames":          {"a", 1, event.Draft{Actor: "a", Body: body}},
		"TheLongestNames":           {strings.Repeat("9", 63), 1, event.Draft{Actor: strings.Repeat("Z", 64), Tool: strings.Repeat("a", 64), Body: body}},
		"EveryCharacterOfAName":     {"0azz9-", 1, event.Draft{Actor: "azAZ09._:/-", Tool: "-/:_.90ZAza", Body: body}},
		"TheLargestSeqAndParent":    {"a", 1 << 53, event.Draft{Parent: 1<<53 - 1, Actor: "a", Body: body}},
		"TheFirstMoment":            {"a", 1, event.Draft{Time: 0, Actor: "a", Body: &event.TimerSet{At: 0}}},
		"TheLastMoment":             {"a", 1, event.Draft{Time: 253402300799_999999, Actor: "a", Body: &event.TimerSet{At: 253402300799_999999}}},
		"ABodyOfExactly16KiB":       {"a", 1, event.Draft{Actor: "a", Body: &event.QuestFailed{Reason: strings.Repeat("x", event.MaxBody-empty)}}},
		"TheLargestInteger":         {"a", 1, event.Draft{Actor: "a", Body: &event.UserMessage{Inbox: 1 << 53}}},
		"TheSmallestInteger":        {"a", 1, event.Draft{Actor: "a", Body: &event.UserMessage{Inbox: -1 << 53}}},
		"AnyDigitsInsideAString":    {"a", 1, event.Draft{Actor: "a", Body: &event.QuestFailed{Reason: `\"9007199254740993 \\`}}},
		"AnySeedBecauseItIsAString": {"a", 1, event.Draft{Actor: "a", Body: &event.QuestForked{Seed: 1<<64 - 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := event.Seal(c.quest, c.seq, event.Hash{}, c.draft)
			if err != nil {
				t.Fatal(err)
			}
			got := parse(t, e.Line())
			if err := got.Follows(c.seq-1, event.Hash{}); err != nil {
				t.Error(err)
			}
			expectCanonical(t, string(e.Line()), string(e.Line()))
		})
	}
}

// parseSample is a line to damage, one member at a time.
const parseSample = `{"actor":"agent-0","body":{"inbox":7,"text":{"text":"Ask A"},"to":"agent-1"},` +
	`"hash":"00000000000000000000000000000000000000000000000000000000000000ff","parent":1,"quest":"golden","seq":2,` +
	`"time":"2026-01-31T12:00:00.000000Z","tool":"shell","type":"user.message"}`

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	parse(t, []byte(parseSample))
	const noLine = "not an event line"
	for name, c := range map[string]struct{ old, new, why string }{
		"AQuestOutsideItsFolder":        {`"golden"`, `"../x"`, "quest name"},
		"AQuestWithoutAName":            {`"golden"`, `""`, "quest name"},
		"AQuestOf64Letters":             {`"golden"`, `"` + strings.Repeat("a", 64) + `"`, "quest name"},
		"AQuestInUpperCase":             {`"golden"`, `"Golden"`, "quest name"},
		"AQuestWithALeadingDash":        {`"golden"`, `"-golden"`, "quest name"},
		"AnEscapedLetterInAQuest":       {`"golden"`, `"\u0067olden"`, "quest name"},
		"NoActor":                       {`"actor":"agent-0"`, `"actor":""`, "actor"},
		"AnActorWithASpace":             {`"agent-0"`, `"agent 0"`, "actor"},
		"AnEscapedLetterInAnActor":      {`"agent-0"`, `"\u0061gent-0"`, "actor"},
		"AnEscapedQuoteInAnActor":       {`"agent-0"`, `"a\"b"`, noLine},
		"AToolWithAnUmlaut":             {`"shell"`, `"shäll"`, "tool"},
		"AToolOf65Letters":              {`"shell"`, `"` + strings.Repeat("a", 65) + `"`, "tool"},
		"SeqZero":                       {`"parent":1,"quest":"golden","seq":2`, `"parent":0,"quest":"golden","seq":0`, "seq 0"},
		"ASeqBeyondDoubles":             {`"seq":2`, `"seq":9007199254740993`, "seq 9007199254740993"},
		"ASeqBeyondUint64":              {`"seq":2`, `"seq":18446744073709551618`, noLine},
		"ANegativeSeq":                  {`"seq":2`, `"seq":-2`, noLine},
		"ASeqWithALeadingZero":          {`"seq":2`, `"seq":02`, noLine},
		"ASeqWithAFraction":             {`"seq":2`, `"seq":2.0`, noLine},
		"ASeqWithAnExponent":            {`"seq":2`, `"seq":2e0`, noLine},
		"ASeqThatIsAString":             {`"seq":2`, `"seq":"2"`, noLine},
		"ASeqThatIsNotThere":            {`"seq":2`, `"seq":`, noLine},
		"ItselfAsParent":                {`"parent":1`, `"parent":2`, "parent 2"},
		"AParentWithALeadingZero":       {`"parent":1`, `"parent":01`, noLine},
		"ATimeBefore1970":               {`2026-01-31T12:00:00.000000Z`, `1969-12-31T23:59:59.999999Z`, "out of range"},
		"AYearOfFiveDigits":             {`2026-01-31T12:00:00.000000Z`, `10000-01-01T00:00:00.00000Z`, "want the form"},
		"ATimeInAnotherZone":            {`12:00:00.000000Z`, `12:00:00.000000+00:00`, "want the form"},
		"ATimeWithoutMicroseconds":      {`12:00:00.000000Z`, `12:00:00Z`, "want the form"},
		"ATimeWithAComma":               {`12:00:00.000000Z`, `12:00:00,000000Z`, "want the form"},
		"ATimeWithNanoseconds":          {`12:00:00.000000Z`, `12:00:00.000000000Z`, "want the form"},
		"ADayThatDoesNotExist":          {`2026-01-31`, `2026-02-30`, "want the form"},
		"ALeapSecond":                   {`12:00:00`, `23:59:60`, "want the form"},
		"AShortHour":                    {`T12:00:00.000000Z`, `T2:00:00.0000000Z`, "want the form"},
		"AShortHash":                    {`0000ff"`, `0000f"`, "64 hex digits"},
		"AHashInUpperCase":              {`0000ff"`, `0000FF"`, "lower-case"},
		"AHashThatIsNotHex":             {`0000ff"`, `0000fg"`, "lower-case"},
		"NoHash":                        {`"hash":"00000000000000000000000000000000000000000000000000000000000000ff",`, ``, noLine},
		"AnUnknownType":                 {`"user.message"`, `"user.invented"`, "not in the catalogue"},
		"NoType":                        {`"user.message"`, `""`, "not in the catalogue"},
		"AnotherTypesBody":              {`"user.message"`, `"quest.failed"`, "unknown"},
		"AnUnknownMemberOfTheBody":      {`"inbox":7,`, `"inbox":7,"more":1,`, "more"},
		"AMemberInAnotherCase":          {`"inbox":7`, `"Inbox":7`, "Inbox"},
		"AnUnknownMemberDeepInside":     {`{"text":"Ask A"}`, `{"text":"Ask A","tone":1}`, "tone"},
		"ARepeatedMember":               {`"inbox":7,`, `"inbox":7,"inbox":7,`, "duplicate"},
		"AnUnknownMemberOfTheLine":      {`"tool":"shell"`, `"tone":"x","tool":"shell"`, noLine},
		"AMissingMemberOfTheLine":       {`"tool":"shell",`, ``, noLine},
		"AMissingMemberOfTheBody":       {`"text":{"text":"Ask A"},`, ``, "not in canonical form"},
		"ANumberWhereAStringBelongs":    {`"Ask A"`, `1`, "number"},
		"AStringWhereANumberBelongs":    {`7`, `"7"`, "string"},
		"AnArrayWhereAnObjectBelongs":   {`{"text":"Ask A"}`, `[]`, "array"},
		"NullWhereAnObjectBelongs":      {`{"text":"Ask A"}`, `null`, "not in canonical form"},
		"AnOptionalMemberThatIsZero":    {`"inbox":7`, `"inbox":0`, "not in canonical form"},
		"ABodyThatIsNull":               {`{"inbox":7,"text":{"text":"Ask A"},"to":"agent-1"}`, `null`, "not in canonical form"},
		"NoBody":                        {`{"inbox":7,"text":{"text":"Ask A"},"to":"agent-1"}`, ``, "EOF"},
		"TwoBodies":                     {`"to":"agent-1"}`, `"to":"agent-1"}{}`, "after top-level value"},
		"BodyMembersInAnotherOrder":     {`"inbox":7,"text":{"text":"Ask A"}`, `"text":{"text":"Ask A"},"inbox":7`, "not in canonical form"},
		"LineMembersInAnotherOrder":     {`"parent":1,"quest":"golden"`, `"quest":"golden","parent":1`, noLine},
		"ASpaceInTheBody":               {`"inbox":7`, `"inbox": 7`, "not in canonical form"},
		"ASpaceInTheLine":               {`,"parent"`, `, "parent"`, noLine},
		"ASpaceBeforeTheLine":           {`{"actor"`, ` {"actor"`, noLine},
		"ALineBreakAfterTheLine":        {`"user.message"}`, "\"user.message\"}\n", noLine},
		"AnEscapeThatIsNotNeeded":       {`Ask A`, `Ask \u0041`, "not in canonical form"},
		"AnEscapedSlash":                {`Ask A`, `Ask \/`, "not in canonical form"},
		"AnEscapeInUpperCase":           {`Ask A`, `Ask \u001F`, "not in canonical form"},
		"ALongEscapeForALineBreak":      {`Ask A`, `Ask \u000a`, "not in canonical form"},
		"AnEscapedMemberName":           {`"inbox"`, `"\u0069nbox"`, "not in canonical form"},
		"ARawControlCharacter":          {`Ask A`, "Ask \x01", "invalid character"},
		"AnIntegerOver2To53":            {`7`, `9007199254740993`, "integer 9007199254740993"},
		"AnIntegerBeyondInt64":          {`7`, `9223372036854775808`, "out of range"},
		"AnIntegerWithAFraction":        {`7`, `7.0`, "invalid syntax"},
		"AnIntegerWithAnExponent":       {`7`, `7e0`, "invalid syntax"},
		"InvalidUTF8InABody":            {`Ask A`, "Ask \xff", "UTF-8"},
		"InvalidUTF8InAName":            {`"inbox"`, "\"inbo\xff\"", "UTF-8"},
		"ALoneSurrogateInABody":         {`Ask A`, `Ask \ud800`, "surrogate"},
		"ABodyOver16KiB":                {`Ask A`, strings.Repeat("x", event.MaxBody), "over the limit of 16384"},
		"AnUnfinishedLine":              {`e"}`, `e"`, noLine},
		"AnEmptyLine":                   {parseSample, ``, noLine},
		"ALineThatOnlyHasAHash":         {parseSample, `,"hash":"`, noLine},
		"ALineThatEndsInsideTheHash":    {`ff","parent":1,"quest":"golden","seq":2,"time":"2026-01-31T12:00:00.000000Z","tool":"shell","type":"user.message"}`, ``, noLine},
		"JSONThatIsNoEvent":             {parseSample, `{"a":1}`, noLine},
		"TextThatIsNoJSON":              {parseSample, "hello\x00\xff", noLine},
		"ALongLineWithoutPrintingItAll": {parseSample, strings.Repeat("x", 1<<16), "…"},
		"ALongLineWithoutTearingItUp":   {parseSample, "x" + strings.Repeat("é", 1<<16), `é…"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := strings.Replace(parseSample, c.old, c.new, 1)
			if line == parseSample {
				t.Fatalf("%q does not change the sample", c.old)
			}
			e, err := event.Parse([]byte(line))
			if err == nil {
				t.Fatalf("Parse took %s", line)
			}
			if e.Sealed() {
				t.Error("a refused event is sealed")
			}
			expectError(t, err, c.why)
			if len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestParseFindsTheHashBehindAnyBody(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 64)
	for i, reason := range []string{
		`,"hash":"` + zeros + `"`,
		`","hash":"` + zeros + `","parent":0,"quest":"a","seq":1,"time":"","tool":"","type":"quest.failed"}`,
		`\`, `\\`, `"`, `\"`, `{"actor":"`, `","body":`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			e := seal(t, 1, event.Hash{}, event.Draft{Actor: "a", Body: &event.QuestFailed{Reason: reason}})
			got := parse(t, bytes.Clone(e.Line()))
			if b := got.Body.(*event.QuestFailed); b.Reason != reason || got.Hash != e.Hash {
				t.Errorf("Parse read reason %q, hash %s", b.Reason, got.Hash)
			}
			if err := got.Follows(0, event.Hash{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestValidNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "0": true, "a-": true, "quest-1": true, strings.Repeat("a", 63): true,
		"": false, "-": false, "-a": false, "A": false, "a_b": false, "a b": false, ".": false, "..": false,
		"a.b": false, "a/b": false, `a\b`: false, "é": false, "a\x00": false, strings.Repeat("a", 64): false,
	} {
		if got := event.ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %t", name, got)
		}
	}
	for name, want := range map[string]bool{
		"shell": true, "mcp:files/read_file": true, "A.b-c": true, strings.Repeat("a", 64): true,
		"": false, "a b": false, `"`: false, "é": false, strings.Repeat("a", 65): false,
	} {
		if got := event.ValidTool(name); got != want {
			t.Errorf("ValidTool(%q) = %t", name, got)
		}
	}
}
