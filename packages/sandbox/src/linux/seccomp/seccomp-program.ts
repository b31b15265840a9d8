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

/**
 * The filter of system calls for a sandboxed command, as `bwrap --seccomp` and the kernel take it. The same options
 * give the same bytes.
 *
 * What is always permitted is decided by the number alone. The kernel finds that out when it loads the filter, and
 * from then on does not run it for those calls.
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

  for (const rule of rulesFor(options)) addRule(assembler, rule, options.arch)
  assembler.return(ALLOW)
  return assembler.assemble()
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

/** Expects the number of the call to be loaded, and leaves it so for the next rule: it loads arguments only to return. */
function addRule(assembler: BpfAssembler, { calls, errno, onlyIf }: Rule, arch: SeccompArch): void {
  const numbers = calls.map((name) => syscallNumber(name, arch)).filter((number) => number !== undefined)
  if (numbers.length === 0) return
  const [matched, failed, next] = [new Label(), new Label(), new Label()]
  jumpToOneOf(assembler, numbers, { yes: matched, no: next })
  assembler.place(matched)
  if (onlyIf) {
    for (const test of onlyIf) addTest(assembler, test, failed)
    assembler.return(ALLOW)
  }
  assembler.place(failed)
  assembler.return(fail(errno))
  assembler.place(next)
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
