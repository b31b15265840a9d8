import {
  type Change,
  RequestSheet,
  type Requirement,
  type SimulationEvent,
  shellWrapper,
  shortened,
  shownCommand,
} from '@waldo/exec'
import { count } from './count.ts'

/** Different commands that are shown, and lines that are none; all others are counted. */
const MAX_COMMANDS = 200
const MAX_LINES = 20
/** Of a command that is shown. */
const MAX_CHARACTERS = 2000
const MAX_ROWS = 8

const TITLES: Readonly<Record<Change, string>> = {
  'newly-denied': 'Would be forbidden',
  'newly-asked': 'Would be asked about',
  'newly-allowed': 'Would run without a question',
  'newly-unsandboxed': 'Would run OUTSIDE of the sandbox',
  'newly-sandboxed': 'Would run inside the sandbox',
}

type Difference = Extract<SimulationEvent, { kind: 'difference' }>

interface Seen {
  readonly command: string
  readonly before: string
  readonly reason: string | undefined
  readonly firstLine: number
  times: number
}

/** What a simulation has found, for people. However long the log is, it holds a part of it only. */
export class SimulationReport {
  readonly #changes = new Map<Change, { readonly commands: Map<string, Seen>; times: number; unshown: number }>()
  readonly #unreadable: { readonly line: number; readonly problem: string }[] = []
  #shown = 0
  #differences = 0
  #unreadableCount = 0
  commands = 0

  add(event: SimulationEvent): void {
    switch (event.kind) {
      case 'difference':
        this.#differences++
        for (const change of event.changes) this.#addChange(change, event)
        return
      case 'unreadable':
        this.#unreadableCount++
        if (this.#unreadable.length < MAX_LINES) this.#unreadable.push(event)
        return
      case 'end':
        this.commands = event.commands
    }
  }

  #addChange(change: Change, { argv, line, before, after }: Difference): void {
    const group = this.#changes.get(change) ?? { commands: new Map<string, Seen>(), times: 0, unshown: 0 }
    this.#changes.set(change, group)
    group.times++
    const command = shown(argv)
    const known = group.commands.get(command)
    if (known) known.times++
    else if (this.#shown === MAX_COMMANDS) group.unshown++
    else {
      this.#shown++
      const reason = 'reason' in after ? after.reason : after.why[0]?.text
      group.commands.set(command, { command, before: stateOf(before), reason, firstLine: line, times: 1 })
    }
  }

  describe(columns: number): string {
    const sheet = new RequestSheet(columns)
    for (const [change, title] of Object.entries(TITLES)) {
      const group = this.#changes.get(change as Change)
      if (!group) continue
      sheet.title(`${title}: ${count(group.times, 'command')}`)
      for (const seen of [...group.commands.values()].sort((a, b) => b.times - a.times)) describeSeen(seen, sheet)
      if (group.unshown > 0) sheet.field('', `… and ${group.unshown} more, all of which --json shows`)
      sheet.title('')
    }
    if (this.#unreadableCount > 0) {
      sheet.title(`No commands, left out: ${count(this.#unreadableCount, 'line')}`)
      for (const { line, problem } of this.#unreadable) sheet.field(`line ${line}`, problem)
      const more = this.#unreadableCount - this.#unreadable.length
      if (more > 0) sheet.field('', `… and ${more} more, all of which --json shows`)
      sheet.title('')
    }
    sheet.title(`${count(this.commands, 'command')}, ${this.#differences || 'none'} of them treated differently`)
    return sheet.toString().trimEnd()
  }
}

function describeSeen({ command, before, reason, firstLine, times }: Seen, sheet: RequestSheet): void {
  sheet.block(command, MAX_ROWS)
  sheet.field(
    '',
    `${times === 1 ? `line ${firstLine}` : `${times} times, first in line ${firstLine}`}; ${before} so far`,
  )
  if (reason !== undefined) sheet.field('', reason)
}

function stateOf(requirement: Requirement): string {
  if (requirement.kind === 'forbidden') return 'forbidden'
  if (requirement.kind === 'ask') return 'asked about'
  return requirement.bypassSandbox ? 'allowed outside of the sandbox' : 'allowed'
}

/** A script is what a shell reads: quoted once more, nobody else could read it. */
function shown(argv: readonly string[]): string {
  const script = shellWrapper(argv)?.script
  return script === undefined ? shownCommand(argv, MAX_CHARACTERS) : shortened(script, MAX_CHARACTERS)
}
