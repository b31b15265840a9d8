import { BpfAssembler, Label } from './bpf-assembler.ts'
import { debuggingRules, kernelSurfaceRules, namespaceRules, setuidRules, terminalRules } from './kernel-rules.ts'
import { networkRules, type SeccompNetwork } from './network-rules.ts'
import { type ArgumentTest, ENOSYS, type Rule } from './rule.ts'
import { FIRST_UNKNOWN_SYSCALL, type SeccompArch, syscallNumber } from './syscalls.ts'

export interface SeccompOptions {
  readonly arch: SeccompArch
  readonly network: SeccompNetwork
  /** For browsers and container tools, which build sandboxes of their own. */
  readonly allowNestedNamespaces?: boolean
  /** For `gdb` and `strace`. */
  readonly allowDebugging?: boolean
}

const AUDIT_ARCH: Record<SeccompArch, number> = { x64: 0xc000_003e, arm64: 0xc000_00b7 }

/** Offsets in `struct seccomp_data`. */
const NUMBER = 0
const ARCH = 4
const lowWord = (argument: number) => 16 + 8 * argument
const highWord = (argument: number) => 20 + 8 * argument

const ALLOW = 0x7fff_0000
const KILL_PROCESS = 0x8000_0000
const fail = (errno: number) => 0x0005_0000 | errno

/** Compared one after the other at the end of the search. */
const LEAF_CALLS = 4

/**
 * The filter of system calls for a sandboxed command, as `bwrap --seccomp` and the kernel take it. The same options
 * give the same bytes.
 *
 * What is always permitted is decided by the number alone. The kernel finds that out when it loads the filter, by
 * trying every number there is, and from then on does not run it for those calls. That is why the number is searched
 * for and not compared with one after the other: loading took three percent of what a sandbox costs.
 */
export function seccompProgram(options: SeccompOptions): Uint8Array<ArrayBuffer> {
  const assembler = new BpfAssembler()
  const native = new Label()
  assembler.load(ARCH)
  assembler.jump('equal', AUDIT_ARCH[options.arch], { yes: native })
  // Calls by 32-bit code (`int 0x80`) have other numbers, and would pass under the wrong name.
  assembler.return(KILL_PROCESS)
  assembler.place(native)

  const known = new Label()
  assembler.load(NUMBER)
  assembler.jump('atLeast', FIRST_UNKNOWN_SYSCALL, { no: known })
  // Newer than these rules, or a second name for an old call: those of x32 begin at 0x40000000.
  assembler.return(fail(ENOSYS))
  assembler.place(known)

  const rules = rulesFor(options).map((rule) => ({ ...rule, label: new Label() }))
  const calls = sortedCalls(rules, options.arch)
  addSearch(assembler, calls)
  // Not those about calls that the architecture does not have: nothing leads there.
  for (const rule of rules) if (calls.some(({ label }) => label === rule.label)) addRule(assembler, rule)
  return assembler.assemble()
}

interface LabelledRule extends Rule {
  readonly label: Label
}

interface Call {
  readonly number: number
  /** Where it is decided. */
  readonly label: Label
}

/** By number, each with the first rule that names it. */
function sortedCalls(rules: readonly LabelledRule[], arch: SeccompArch): Call[] {
  const labels = new Map<number, Label>()
  for (const { calls, label } of rules) {
    for (const name of calls) {
      const number = syscallNumber(name, arch)
      if (number !== undefined && !labels.has(number)) labels.set(number, label)
    }
  }
  return [...labels].map(([number, label]) => ({ number, label })).sort((a, b) => a.number - b.number)
}

/** Goes to the rule of the call whose number is loaded, and permits what has none. */
function addSearch(assembler: BpfAssembler, calls: readonly Call[]): void {
  if (calls.length <= LEAF_CALLS) {
    for (const { number, label } of calls) assembler.jump('equal', number, { yes: label })
    assembler.return(ALLOW)
    return
  }
  const middle = calls.length >> 1
  const upper = new Label()
  assembler.jump('atLeast', calls[middle]!.number, { yes: upper })
  addSearch(assembler, calls.slice(0, middle))
  assembler.place(upper)
  addSearch(assembler, calls.slice(middle))
}

function rulesFor({ network, allowNestedNamespaces, allowDebugging }: SeccompOptions): Rule[] {
  return [
    ...terminalRules,
    ...setuidRules,
    ...networkRules[network],
    ...(allowNestedNamespaces ? [] : namespaceRules),
    ...(allowDebugging ? [] : debuggingRules),
    ...kernelSurfaceRules,
  ]
}

function addRule(assembler: BpfAssembler, { label, errno, onlyIf }: LabelledRule): void {
  const failed = new Label()
  assembler.place(label)
  if (onlyIf) {
    for (const test of onlyIf) addTest(assembler, test, failed)
    assembler.return(ALLOW)
  }
  assembler.place(failed)
  assembler.return(fail(errno))
}

/** Goes on behind itself if the test holds. */
function addTest(assembler: BpfAssembler, test: ArgumentTest, failed: Label): void {
  const held = new Label()
  assembler.load(lowWord(test.argument))
  switch (test.is) {
    case 'oneOf':
      if (test.mask !== undefined) assembler.and(test.mask)
      jumpToOneOf(assembler, test.values, { yes: held, no: failed })
      break
    case 'noneOf':
      if (test.mask !== undefined) assembler.and(test.mask)
      jumpToOneOf(assembler, test.values, { yes: failed, no: held })
      break
    case 'withoutBits':
      assembler.jump('anyBit', test.bits, { yes: failed })
      break
    case 'null':
      assembler.jump('equal', 0, { no: failed })
      assembler.load(highWord(test.argument))
      assembler.jump('equal', 0, { no: failed })
      break
    default:
      test satisfies never
  }
  assembler.place(held)
}

function jumpToOneOf(assembler: BpfAssembler, values: readonly number[], to: { yes: Label; no: Label }): void {
  for (const value of values.slice(0, -1)) assembler.jump('equal', value, { yes: to.yes })
  for (const value of values.slice(-1)) assembler.jump('equal', value, to)
}
