import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { type Environment, ReadyEnvironments } from '@waldo/environment'
import {
  type Approver,
  Conversation,
  type ConversationOptions,
  type ExecEvent,
  type IdSource,
  loadRules,
  type ReviewDecision,
  RulePolicy,
  ScriptParser,
  type Settings,
  scriptedApprover,
  type ToolAnswer,
  type Turn,
} from '@waldo/exec'
import { grammarFiles } from '@waldo/exec/node'
import { connect, local } from '@waldo/sdk'
import { startExecutor } from '../environments/executors.ts'
import { scratch, WALDO } from '../environments/scratch.ts'

const scripts = new ScriptParser(grammarFiles)

/** Where a conversation of these tests works. */
export interface Place extends AsyncDisposable {
  readonly environment: Environment
  /** A directory of its own, which is the workspace. */
  readonly directory: string
}

/** The two ways to an environment: any difference between them is a bug. */
export const PLACES: Readonly<Record<'local' | 'remote', () => Promise<Place>>> = {
  local: async () => {
    const home = scratch()
    const environment = local({ cwd: home.path, runtime: { executable: WALDO, stateDir: home.at('.state') } })
    return place(environment, home)
  },
  remote: async () => {
    const home = scratch()
    const executor = await startExecutor()
    return place(connect(executor.url, { cwd: home.path }), home, executor)
  },
}

function place(environment: Environment, home: ReturnType<typeof scratch>, executor?: AsyncDisposable): Place {
  return {
    environment,
    directory: home.path,
    async [Symbol.asyncDispose]() {
      await environment.close()
      await executor?.[Symbol.asyncDispose]()
      home[Symbol.dispose]()
    },
  }
}

/** Tests that hold wherever a conversation works, each kind of place opened once. */
export function inEachPlace(title: string, body: (place: () => Place) => void): void {
  for (const [where, open] of Object.entries(PLACES)) {
    describe(`${title}, ${where}`, () => {
      let place: Place
      before(async () => {
        place = await open()
      })
      after(async () => {
        await place[Symbol.asyncDispose]()
      })
      body(() => place)
    })
  }
}

/** Numbers as usual, and which of them are taken. */
export function countedIds(): { readonly ids: IdSource; readonly taken: () => number[] } {
  const given = new Set<number>()
  let isTaken: (id: number) => boolean = () => false
  return {
    ids: (taken) => {
      isTaken = taken
      let id = 1000
      while (isTaken(id)) id++
      given.add(id)
      return id
    },
    taken: () => [...given].filter((id) => isTaken(id)),
  }
}

let gates = 0
/** A file that a command waits for: `wait` is the script that does, `open` ends it. */
export function gate({ directory }: Place): { readonly wait: string; readonly open: () => void } {
  const path = join(directory, `gate-${++gates}`)
  return { wait: `until [ -e ${path} ]; do sleep 0.02; done`, open: () => writeFileSync(path, '') }
}

export interface TalkOptions extends Partial<Pick<ConversationOptions, 'ids' | 'now' | 'keptPaths'>> {
  readonly approvers?: readonly Approver[]
  readonly settings?: Partial<Settings>
  /** The text of a rules file. */
  readonly rules?: string
}

/** A conversation with a model that is us. */
export class Talk implements AsyncDisposable {
  readonly conversation: Conversation
  readonly events: ExecEvent[] = []
  /** Rules that were saved. */
  readonly saved: string[] = []
  readonly #place: Place
  #turn: Turn | undefined
  #calls = 0

  constructor(place: Place, { approvers = [], settings = {}, rules = '', ...options }: TalkOptions = {}) {
    this.#place = place
    const policy = new RulePolicy({
      rules: loadRules([{ name: 'project', files: [{ path: 'test.rules', text: rules }] }]),
      scripts,
      store: { append: async (scope, line) => void this.saved.push(`${scope}: ${line}`) },
    })
    const failed = (error: unknown) => {
      throw error
    }
    this.conversation = new Conversation({
      approvers,
      policy,
      scripts,
      settings: { permissions: 'full-access', allowLoginShell: false, ...settings },
      failed,
      ...options,
    })
    this.conversation.onEvent((event) => this.events.push(event))
  }

  get turn(): Promise<Turn> {
    return this.#turn ? Promise.resolve(this.#turn) : this.newTurn()
  }

  async newTurn(settings: Partial<Settings> = {}): Promise<Turn> {
    const { environment, directory } = this.#place
    const environments = await ReadyEnvironments.of(environment, { cwd: directory })
    this.#turn = this.conversation.turn({ environments, settings })
    return this.#turn
  }

  async call(
    tool: string,
    args: unknown,
    options: { signal?: AbortSignal; callId?: string } = {},
  ): Promise<ToolAnswer> {
    const { callId = `call-${++this.#calls}`, ...others } = options
    return await this.conversation.call(tool, args, { turn: await this.turn, callId, ...others })
  }

  /** The same, for what comes back as parts. */
  async run(tool: string, args: unknown, options?: { signal?: AbortSignal }): Promise<Observed> {
    const { text, success, structured } = await this.call(tool, args, options)
    if (!success) throw new Error(text)
    const { output, exit_code, session_id, notes = [] } = structured as StructuredAnswer
    return { text, output, exitCode: exit_code, sessionId: session_id, notes }
  }

  /** A process that is still there when its call is answered. Returns its number. */
  async start(cmd: string, args: object = {}): Promise<number> {
    const { sessionId, text } = await this.run('exec_command', { cmd, yield_time_ms: 250, ...args })
    if (sessionId === undefined) throw new Error(`it has ended: ${text}`)
    return sessionId
  }

  /** What a call is refused with. */
  async refusal(tool: string, args: unknown): Promise<string> {
    const { text, success } = await this.call(tool, args)
    if (success) throw new Error(`it was answered: ${text}`)
    return text
  }

  ofType<T extends ExecEvent['type']>(type: T): Extract<ExecEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<ExecEvent, { type: T }> => event.type === type)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.conversation.close()
  }
}

interface StructuredAnswer {
  readonly output: string
  readonly exit_code?: number
  readonly session_id?: number
  readonly notes?: readonly string[]
}

export interface Observed {
  readonly text: string
  readonly output: string
  readonly exitCode: number | undefined
  readonly sessionId: number | undefined
  readonly notes: readonly string[]
}

/** What somebody was asked. */
export type Asked = ReturnType<typeof scriptedApprover>['asked']

/** A conversation in a sandbox with somebody who gives these answers, and who is to be asked for each of them. */
export async function talkThen(
  place: Place,
  options: TalkOptions,
  answers: ReviewDecision[],
  work: (talk: Talk, asked: Asked) => Promise<void>,
): Promise<void> {
  const approver = scriptedApprover(answers)
  const settings = { permissions: 'workspace' as const, ...options.settings }
  await using talk = new Talk(place, { ...options, approvers: [approver], settings })
  await work(talk, approver.asked)
  assert.equal(approver.asked.length, answers.length, 'as many questions as answers')
  const questions = talk.ofType('approval_asked').length
  assert.equal(talk.ofType('approval_decided').filter(({ requestId }) => requestId !== undefined).length, questions)
  await talk.conversation.close()
  assert.equal(talk.ofType('exec_begin').length, talk.ofType('exec_end').length)
  assert.equal(talk.ofType('patch_begin').length, talk.ofType('patch_end').length)
}
