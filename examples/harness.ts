// An agent: a model, the tools, and a person who is asked.  MODEL_URL=… MODEL=… bun examples/harness.ts "fix the tests"
// Any server with the responses API will do. Commands run here, in a sandbox around this directory; with
// WALDO_URL=ws://… they run on that executor instead.
import { type Environment, ReadyEnvironments } from '@waldo/environment'
import { Conversation, completionMessage, type ToolDefinition, TurnAborted, visibleText } from '@waldo/exec'
import { openPolicy, TerminalApprover } from '@waldo/exec/node'
import { connect, local } from '@waldo/sdk'

const { MODEL_URL, MODEL = 'default', MODEL_KEY = '', WALDO_URL } = process.env
const task = process.argv.slice(2).join(' ')
if (!MODEL_URL || !task) throw new Error('usage: MODEL_URL=http://… harness.ts TASK')

type Item = {
  type: string
  call_id?: string
  name?: string
  arguments?: string
  input?: string
  [other: string]: unknown
}

async function ask(input: readonly Item[], tools: readonly ToolDefinition[]): Promise<Item[]> {
  const response = await fetch(`${MODEL_URL}/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${MODEL_KEY}` },
    body: JSON.stringify({ model: MODEL, input, tools }),
  })
  if (!response.ok) throw new Error(`the model answers ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { output: Item[] }).output
}

const cwd = process.cwd()
await using environment: Environment = WALDO_URL ? connect(WALDO_URL, { cwd }) : local({ cwd })

await using conversation = new Conversation({
  ...(await openPolicy({ workspace: cwd })),
  approvers: [new TerminalApprover()],
})
conversation.onEvent((event) => {
  // Whatever a command prints, it must not draw over a question.
  if (event.type === 'exec_begin') console.error(`$ ${visibleText(event.command)}`)
  if (event.type === 'exec_output') for (const line of text(event.data)) console.error(visibleText(line))
})
const turn = conversation.turn({ environments: await ReadyEnvironments.of(environment, { cwd }) })
process.on('SIGINT', () => void turn.interrupt())

const history: Item[] = [{ type: 'message', role: 'user', content: task }]
try {
  for (;;) {
    const items = await ask(history, conversation.tools(turn))
    history.push(...items)
    const calls = items.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
    for (const { content } of items.filter(({ type }) => type === 'message')) console.log(textOf(content))
    const answers = calls.map(async ({ type, name = '', call_id: callId = '', arguments: args, input }) => {
      const { text } = await conversation.call(name, args ?? input, { turn, callId })
      return { type: `${type}_output`, call_id: callId, output: text }
    })
    history.push(...(await Promise.all(answers)))
    // What has ended meanwhile is told in one message, instead of being polled for.
    const ended = completionMessage(await conversation.takeCompletions())
    if (ended) history.push({ type: 'message', role: 'user', content: ended })
    if (calls.length === 0 && !ended) break
  }
} catch (error) {
  // Whoever is asked may also stop the turn: then there is nothing to answer the model.
  if (!(error instanceof TurnAborted)) throw error
  process.exitCode = 130
}
await turn.end()

function text(data: Uint8Array): string[] {
  return new TextDecoder().decode(data).replace(/\n$/, '').split('\n')
}

function textOf(content: unknown): string {
  return Array.isArray(content) ? content.map((part) => part.text ?? '').join('') : String(content)
}
