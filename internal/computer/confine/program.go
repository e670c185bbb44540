package confine

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// numbers has a line for each system call: name, number on amd64, on arm64, and a
// dash where there is none. A test holds it against golang.org/x/sys/unix, whose
// constants are only there for the architecture that is compiled.
//
//go:embed numbers.txt
var numbers string

// Where the kernel puts what a filter looks at, on little-endian machines.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

const (
	retAllow = unix.SECCOMP_RET_ALLOW
	retKill  = unix.SECCOMP_RET_KILL_PROCESS
	retNoSys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	retPerm  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
)

// program is a piece of one. All its jumps are relative and forward, so pieces can be
// put one after another.
type program = []unix.SockFilter

// Filter is the BPF program for an architecture in Go's spelling, amd64 or arm64, on
// a kernel of today. Apply uses that of the running one.
func Filter(arch string) ([]unix.SockFilter, error) {
	return compile(allowlist(), arch, seccomp.KernelVersion{Kernel: math.MaxUint32})
}

// compile makes a program of a list. It kills on a foreign architecture, before it
// looks at anything else: numbers mean other calls there. A number that is not in
// our table gets ENOSYS, which makes programs fall back from calls that are newer
// than it; x32 calls on amd64 are such numbers, having bit 30 set.
func compile(list *seccomp.Seccomp, arch string, kernel seccomp.KernelVersion) (program, error) {
	audit, table, err := architecture(arch)
	if err != nil {
		return nil, err
	}
	rules := map[uint32][]program{}
	for _, s := range list.Syscalls {
		if !applies(s, arch, kernel) {
			continue
		}
		rule, err := compileRule(s)
		if err != nil {
			return nil, err
		}
		for _, name := range s.Names {
			// A name that the table lacks is one of other architectures, or newer.
			if nr, ok := table[name]; ok {
				rules[nr] = append(rules[nr], rule)
			}
		}
	}
	var last uint32
	for _, nr := range table {
		last = max(last, nr)
	}
	p := slices.Concat(
		program{load(offsetArch), jump(unix.BPF_JEQ, audit, 1, 0), ret(retKill), load(offsetNumber)},
		search(ranges(rules, last)))
	if len(p) > unix.BPF_MAXINSNS {
		return nil, fmt.Errorf("the seccomp filter has %d instructions, more than the %d that kernels take", len(p), unix.BPF_MAXINSNS)
	}
	return p, nil
}

// architecture is what the kernel calls it, and the numbers of its calls.
func architecture(arch string) (audit uint32, table map[string]uint32, err error) {
	column := 0
	switch arch {
	case "amd64":
		audit, column = unix.AUDIT_ARCH_X86_64, 1
	case "arm64":
		audit, column = unix.AUDIT_ARCH_AARCH64, 2
	default:
		return 0, nil, fmt.Errorf("there is no seccomp filter for %s, only for amd64 and arm64", arch)
	}
	table = map[string]uint32{}
	for line := range strings.Lines(numbers) {
		fields := strings.Fields(line)
		if fields[column] == "-" {
			continue
		}
		nr, err := strconv.ParseUint(fields[column], 10, 16)
		if err != nil {
			return 0, nil, fmt.Errorf("the number of system call %s: %w", fields[0], err)
		}
		table[fields[0]] = uint32(nr)
	}
	return audit, table, nil
}

// applies reports whether a rule is for that architecture and kernel. Capabilities
// are not its concern: allowlist has settled them.
func applies(s *seccomp.Syscall, arch string, kernel seccomp.KernelVersion) bool {
	atLeast := func(v *seccomp.KernelVersion) bool {
		return kernel.Kernel > v.Kernel || kernel.Kernel == v.Kernel && kernel.Major >= v.Major
	}
	if in := s.Includes; in != nil {
		if len(in.Arches) > 0 && !slices.Contains(in.Arches, arch) || in.MinKernel != nil && !atLeast(in.MinKernel) {
			return false
		}
	}
	if ex := s.Excludes; ex != nil {
		if slices.Contains(ex.Arches, arch) || ex.MinKernel != nil && atLeast(ex.MinKernel) {
			return false
		}
	}
	return true
}

// span is a run of numbers, up to that of the next span, which are treated alike.
type span struct {
	first uint32
	code  program
}

// ranges covers all numbers. The first rule that matches a call decides, and none
// means EPERM.
func ranges(rules map[uint32][]program, last uint32) []span {
	var spans []span
	for nr := range last + 1 {
		code := slices.Concat(append(slices.Clip(rules[nr]), program{ret(retPerm)})...)
		if code[0].Code == unix.BPF_RET|unix.BPF_K {
			code = code[:1] // a rule without conditions: nothing after it matters
		}
		if len(spans) == 0 || !slices.Equal(spans[len(spans)-1].code, code) {
			spans = append(spans, span{nr, code})
		}
	}
	return append(spans, span{last + 1, program{ret(retNoSys)}})
}

// search finds the number's span by halving: seven or eight comparisons where a list
// takes hundreds. The kernel works out once which calls are allowed whatever their
// arguments, and does not run the program for those.
func search(spans []span) program {
	if len(spans) == 1 {
		return spans[0].code
	}
	half := len(spans) / 2
	low, high := search(spans[:half]), search(spans[half:])
	var head program
	if len(low) <= math.MaxUint8 {
		head = program{jump(unix.BPF_JGE, spans[half].first, uint8(len(low)), 0)}
	} else {
		// Only an unconditional jump goes that far.
		head = program{jump(unix.BPF_JGE, spans[half].first, 0, 1), {Code: unix.BPF_JMP | unix.BPF_JA, K: uint32(len(low))}}
	}
	return slices.Concat(head, low, high)
}

// compileRule is code that returns the rule's action if all its conditions hold, and
// else runs off its end.
func compileRule(s *seccomp.Syscall) (program, error) {
	var code program
	switch s.Action {
	case specs.ActAllow:
		code = program{ret(retAllow)}
	case specs.ActErrno:
		errno := uint32(unix.EPERM)
		if s.ErrnoRet != nil {
			errno = uint32(*s.ErrnoRet)
		}
		code = program{ret(unix.SECCOMP_RET_ERRNO | errno&unix.SECCOMP_RET_DATA)}
	default:
		return nil, fmt.Errorf("the seccomp profile has action %s for %v, which this filter does not know", s.Action, s.Names)
	}
	for _, arg := range slices.Backward(s.Args) {
		c, err := condition(arg, len(code))
		if err != nil {
			return nil, fmt.Errorf("the seccomp profile's rule for %v: %w", s.Names, err)
		}
		code = slices.Concat(c, code)
	}
	return code, nil
}

// condition goes on behind its end if an argument is as it should be, and otherwise
// skips the rest of the rule. Arguments have 64 bits and BPF 32: the upper half
// decides, and the lower one where the upper is equal.
func condition(arg specs.LinuxSeccompArg, rest int) (program, error) {
	if arg.Index > 5 {
		return nil, fmt.Errorf("a system call has no argument %d", arg.Index)
	}
	if rest > math.MaxUint8-6 {
		return nil, fmt.Errorf("too many conditions")
	}
	low := load(offsetArgs + 8*uint32(arg.Index))
	high := load(offsetArgs + 8*uint32(arg.Index) + 4)
	h, l := uint32(arg.Value>>32), uint32(arg.Value)
	skip := uint8(rest)
	switch arg.Op {
	case specs.OpEqualTo:
		return program{high, jump(unix.BPF_JEQ, h, 0, skip+2), low, jump(unix.BPF_JEQ, l, 0, skip)}, nil
	case specs.OpNotEqual:
		return program{high, jump(unix.BPF_JEQ, h, 0, 2), low, jump(unix.BPF_JEQ, l, skip, 0)}, nil
	case specs.OpGreaterThan:
		return program{high, jump(unix.BPF_JGT, h, 3, 0), jump(unix.BPF_JEQ, h, 0, skip+2), low, jump(unix.BPF_JGT, l, 0, skip)}, nil
	case specs.OpGreaterEqual:
		return program{high, jump(unix.BPF_JGT, h, 3, 0), jump(unix.BPF_JEQ, h, 0, skip+2), low, jump(unix.BPF_JGE, l, 0, skip)}, nil
	case specs.OpLessThan:
		return program{high, jump(unix.BPF_JGT, h, skip+3, 0), jump(unix.BPF_JEQ, h, 0, 2), low, jump(unix.BPF_JGE, l, skip, 0)}, nil
	case specs.OpLessEqual:
		return program{high, jump(unix.BPF_JGT, h, skip+3, 0), jump(unix.BPF_JEQ, h, 0, 2), low, jump(unix.BPF_JGT, l, skip, 0)}, nil
	case specs.OpMaskedEqual:
		// The value is the mask here, and the second value what must be left.
		equal := arg.ValueTwo & arg.Value
		p := program{low, and(l), jump(unix.BPF_JEQ, uint32(equal), 0, skip)}
		if h != 0 {
			p = slices.Concat(program{high, and(h), jump(unix.BPF_JEQ, uint32(equal>>32), 0, skip+3)}, p)
		}
		return p, nil
	}
	return nil, fmt.Errorf("this filter does not know the comparison %s", arg.Op)
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func and(mask uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask}
}

func jump(test uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, Jt: yes, Jf: no, K: k}
}

func ret(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}
