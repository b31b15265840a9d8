import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type EnvironmentCapabilities, ReadyEnvironments } from '@waldo/environment'
import type { ToolDefinition } from '@waldo/exec'
import { pathUri } from '@waldo/protocol'
import { PLACES, type Place, Talk } from './place.ts'

const everything = { exec: true, files: true, http: true }

/** What a turn works in: these places, each with what it can do. */
async function environmentsOf(
  places: readonly (readonly [Place, EnvironmentCapabilities])[],
): Promise<ReadyEnvironments> {
  const selection = places.map(([{ environment, directory }, capabilities]) => {
    const cwd = pathUri(`file://${directory}`)
    return { environmentId: environment.id, cwd, workspaceRoots: [cwd], capabilities }
  })
  const known = new Map(places.map(([{ environment }]) => [environment.id, environment]))
  return await ReadyEnvironments.connect(selection, { defaultId: undefined, get: (id) => known.get(id) })
}

const names = (tools: readonly ToolDefinition[]) => tools.map(({ name }) => name).sort()
const properties = (tools: readonly ToolDefinition[], wanted: string) => {
  const tool = tools.find(({ name }) => name === wanted)
  return tool?.type === 'function' ? tool.parameters.properties : {}
}
const EXEC_TOOLS = [
  'exec_command',
  'kill_session',
  'list_sessions',
  'read_output',
  'request_permissions',
  'write_stdin',
]

describe('the tools that a model is offered', () => {
  test('are what some environment of the turn can do; with two, it can say which', async () => {
    await using here = await PLACES.local()
    await using there = await PLACES.remote()
    await using talk = new Talk(here)
    const tools = async (...places: Parameters<typeof environmentsOf>[0]) =>
      talk.conversation.tools(talk.conversation.turn({ environments: await environmentsOf(places) }))

    assert.deepEqual(names(await tools()), [])
    const one = await tools([here, everything])
    assert.deepEqual(names(one), ['apply_patch', ...EXEC_TOOLS])
    assert.ok(!('environment_id' in properties(one, 'exec_command')))
    assert.deepEqual(names(await tools([here, { ...everything, exec: false }])), ['apply_patch'])
    assert.deepEqual(names(await tools([here, { ...everything, files: false }])), EXEC_TOOLS)
    const two = await tools([here, everything], [there, everything])
    assert.deepEqual(properties(two, 'exec_command').environment_id, {
      type: 'string',
      enum: ['local', 'remote'],
      description: 'Environment to run in. Defaults to `local`.',
    })
    // Only one of them runs commands: there is nothing to choose.
    const mixed = await tools([here, everything], [there, { ...everything, exec: false }])
    assert.ok(!('environment_id' in properties(mixed, 'exec_command')))
    const grammar = (offered: readonly ToolDefinition[]) => {
      const patch = offered.find(({ name }) => name === 'apply_patch')
      return patch?.type === 'custom' ? patch.format.definition : ''
    }
    assert.ok(grammar(two).includes('"*** Environment ID: " ("local" | "remote")'))
    assert.ok(!grammar(one).includes('Environment ID'))
  })

  test('go to the first environment that can do it, if none is named', async () => {
    await using here = await PLACES.local()
    await using there = await PLACES.remote()
    await using talk = new Talk(here)
    const environments = await environmentsOf([
      [here, { ...everything, exec: false }],
      [there, { ...everything, files: false }],
    ])
    const turn = talk.conversation.turn({ environments })
    const call = (tool: string, args: unknown) => talk.conversation.call(tool, args, { turn })
    assert.match((await call('exec_command', { cmd: 'pwd' })).text, new RegExp(there.directory))
    const { success } = await call('apply_patch', '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch')
    assert.ok(success)
    assert.equal(readFileSync(join(here.directory, 'a'), 'utf8'), 'x\n')
    assert.match(
      (await call('exec_command', { cmd: 'pwd', environment_id: 'local' })).text,
      /it is available in `remote`/,
    )
  })

  test('say whether login shells are allowed', async () => {
    await using here = await PLACES.local()
    await using talk = new Talk(here)
    for (const allowLoginShell of [true, false]) {
      const turn = await talk.newTurn({ allowLoginShell })
      assert.equal('login' in properties(talk.conversation.tools(turn), 'exec_command'), allowLoginShell)
    }
  })

  test('are refused if they are called all the same', async () => {
    await using here = await PLACES.local()
    await using talk = new Talk(here)
    const turn = talk.conversation.turn({ environments: await environmentsOf([]) })
    const call = async (tool: string, args: unknown) => (await talk.conversation.call(tool, args, { turn })).text
    for (const tool of EXEC_TOOLS)
      assert.equal(await call(tool, { cmd: 'id' }), 'unified exec is unavailable in this session')
    const patch = '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch'
    assert.equal(await call('apply_patch', patch), 'apply_patch is unavailable in this session')
  })

  test('go to the environment that is named, and a session knows its own', async () => {
    await using here = await PLACES.local()
    await using there = await PLACES.remote()
    await using talk = new Talk(here)
    const both = await environmentsOf([
      [here, everything],
      [there, everything],
    ])
    const turn = talk.conversation.turn({ environments: both })
    const run = async (tool: string, args: object) => {
      const { text, success, structured } = await talk.conversation.call(tool, args, { turn })
      assert.ok(success, text)
      return structured as { output: string; session_id?: number }
    }
    assert.equal((await run('exec_command', { cmd: 'pwd' })).output, `${here.directory}\n`)
    assert.equal((await run('exec_command', { cmd: 'pwd', environment_id: 'remote' })).output, `${there.directory}\n`)
    const patch = '*** Begin Patch\n*** Environment ID: remote\n*** Add File: a\n+x\n*** End Patch'
    assert.ok((await talk.conversation.call('apply_patch', patch, { turn })).success)
    assert.equal((await run('exec_command', { cmd: 'cat a', environment_id: 'remote' })).output, 'x\n')

    // A session can be talked to although its environment is not selected any more.
    const args = { cmd: 'read line; echo "got $line"', tty: true, environment_id: 'remote', yield_time_ms: 250 }
    const { session_id } = await run('exec_command', args)
    const later = talk.conversation.turn({ environments: await environmentsOf([]) })
    assert.deepEqual(names(talk.conversation.tools(later)), [
      'kill_session',
      'list_sessions',
      'read_output',
      'write_stdin',
    ])
    const answer = await talk.conversation.call(
      'write_stdin',
      { session_id, chars: 'it\n', until: 'exit' },
      { turn: later },
    )
    assert.match(answer.text, /got it/)
  })

  test('have schemas that say everything they take', async () => {
    await using here = await PLACES.local()
    await using talk = new Talk(here)
    const turn = await talk.turn
    const functions = talk.conversation.tools(turn, { grammars: false })
    assert.deepEqual(names(functions), names(talk.conversation.tools(turn)))
    assert.ok(functions.every(({ type }) => type === 'function'))
    for (const tool of [...functions, ...talk.conversation.tools(turn)]) {
      assert.ok(tool.description.length > 20, tool.name)
      if (tool.type === 'custom') continue
      assert.equal(tool.parameters.additionalProperties, false)
      for (const name of tool.parameters.required) assert.ok(name in tool.parameters.properties, `${tool.name}.${name}`)
      assert.deepEqual(JSON.parse(JSON.stringify(tool)), tool)
    }
  })
})
