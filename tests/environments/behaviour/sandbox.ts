import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { type ProcessEvent, sandboxProfiles } from '@waldo/environment'
import { all, bytesOf, fails } from '../collect.ts'
import { scratch } from '../scratch.ts'
import { sh } from './processes.ts'
import { type Setting, unrepeated } from './setting.ts'

/** A directory to work in, and one that is nobody's business. */
function workspace() {
  const dir = scratch()
  for (const name of ['ws', 'ws/.git', 'out']) mkdirSync(dir.at(name))
  writeFileSync(dir.at('out/keep'), 'keep')
  return { at: dir.at, ws: dir.at('ws'), [Symbol.dispose]: () => dir[Symbol.dispose]() }
}

/** Without /tmp, which the directories above are in. */
const profile = (root: string) => sandboxProfiles.workspaceWrite({ roots: [root], tmp: false })

function exitOf(events: readonly ProcessEvent[]) {
  const exited = events.find(({ type }) => type === 'exited')
  assert.ok(exited?.type === 'exited')
  return exited
}

export function sandboxBehaviour(setting: Setting): void {
  const { open } = setting
  /** Whatever changes something is never sent twice. */
  const change = <T>(act: () => Promise<T>) => unrepeated(setting, act)

  test('a command writes where it may, nowhere else, and its end says what it wanted', async () => {
    await using env = open()
    using dir = workspace()
    const script = 'echo in > in; cat ../out/keep; echo out > ../out/new; echo hook > .git/hook; exit 3'
    const command = await sh(env, script, { cwd: dir.ws, sandbox: profile(dir.ws) })
    const exited = exitOf(await all(command.events()))
    assert.equal(readFileSync(dir.at('ws/in'), 'utf8'), 'in\n')
    assert.deepEqual([existsSync(dir.at('out/new')), existsSync(dir.at('ws/.git/hook'))], [false, false])
    const { exitCode, sandboxDenied, sandboxDenials = [] } = await command.wait()
    assert.deepEqual({ exitCode, sandboxDenied }, { exitCode: 3, sandboxDenied: true })
    const wanted = sandboxDenials.map(({ kind, access, path }) => `${kind} ${access} ${path}`)
    assert.ok(wanted.includes(`file write ${dir.at('out/new')}`), String(wanted))
    assert.deepEqual([exited.sandboxDenied, exited.sandboxDenials], [true, sandboxDenials])
  })

  test('a command that fails by itself was denied nothing', async () => {
    await using env = open()
    using dir = workspace()
    const failing = await (await sh(env, 'exit 3', { sandbox: profile(dir.ws), cwd: dir.ws })).wait()
    assert.deepEqual([failing.exitCode, failing.sandboxDenied, failing.sandboxDenials], [3, false, undefined])
  })

  test('a command that may only read writes nothing, and one that may write temporary files does', async () => {
    await using env = open()
    using dir = workspace()
    const reader = await sh(env, 'cat ../out/keep; touch x', { cwd: dir.ws, sandbox: sandboxProfiles.readOnly() })
    assert.match(await reader.text(), /^keep/)
    assert.notEqual((await reader.wait()).exitCode, 0)
    assert.equal(existsSync(dir.at('ws/x')), false)
    const sandbox = sandboxProfiles.workspaceWrite({ roots: [dir.ws] })
    const temporary = await sh(env, 'f=$(mktemp /tmp/waldo-XXXXXX) && rm $f && echo fine', { cwd: dir.ws, sandbox })
    assert.equal(await temporary.text(), 'fine\n')
  })

  test('files are written inside; outside, and through a link that leads out, it is denied', async () => {
    await using env = open()
    using dir = workspace()
    const sandbox = profile(dir.ws)
    symlinkSync(dir.at('out/keep'), dir.at('ws/link'))
    symlinkSync(dir.at('out'), dir.at('ws/linked'))
    await change(() => env.files.writeFile(dir.at('ws/a'), 'a', { sandbox }))
    assert.equal(await env.files.readText(dir.at('ws/a'), { sandbox }), 'a')
    assert.equal(await env.files.readText(dir.at('ws/link'), { sandbox }), 'keep')
    for (const path of ['out/keep', 'out/new', 'ws/link', 'ws/linked/new', 'ws/.git/config'].map(dir.at)) {
      const whole = () => env.files.writeFile(path, 'changed', { sandbox })
      await fails(change(whole), 'FILE_DENIED')
      const streamed = () => env.files.writeStream(path, { sandbox }).getWriter().write(Buffer.from('changed'))
      await fails(change(streamed), 'FILE_DENIED')
    }
    const denied: (() => Promise<unknown>)[] = [
      () => env.files.append(dir.at('out/keep'), 'more', { sandbox }),
      () => env.files.remove(dir.at('out/keep'), { sandbox }),
      () => env.files.copy(dir.at('ws/a'), dir.at('out/new'), { sandbox }),
      () => env.files.rename(dir.at('ws/a'), dir.at('out/new'), { sandbox }),
      () => env.files.createDirectory(dir.at('out/new'), { sandbox }),
    ]
    for (const act of denied) await fails(change(act), 'FILE_DENIED')
    assert.equal(readFileSync(dir.at('out/keep'), 'utf8'), 'keep')
    assert.deepEqual([existsSync(dir.at('out/new')), existsSync(dir.at('ws/.git/config'))], [false, false])
  })

  test('what a profile denies cannot be read, by a command or as a file', async () => {
    await using env = open()
    using dir = workspace()
    const base = profile(dir.ws)
    assert.ok(base.permissions.type === 'managed' && base.permissions.file_system.type === 'restricted')
    const path = await env.files.canonicalize(dir.at('out/keep'))
    const denied = { path: { type: 'path', path }, access: 'deny' } as const
    const entries = [...base.permissions.file_system.entries, denied]
    const sandbox = {
      ...base,
      permissions: { ...base.permissions, file_system: { type: 'restricted', entries } },
    } as const
    await fails(env.files.readFile(path, { sandbox }), 'FILE_DENIED')
    await fails(bytesOf(env.files.readStream(path, { sandbox })), 'FILE_DENIED')
    const reader = await sh(env, 'cat ../out/keep', { cwd: dir.ws, sandbox })
    assert.doesNotMatch(await reader.text(), /^keep/)
  })

  test('limits hold, with a sandbox and without, and the end says which was hit', async () => {
    await using env = open()
    using dir = workspace()
    for (const sandbox of [undefined, profile(dir.ws)]) {
      const options = { cwd: dir.ws, sandbox }
      const slow = await sh(env, 'sleep 1000', { ...options, limits: { wallMs: 100 } })
      const { exitCode, limitHit } = await slow.wait()
      assert.deepEqual([exitCode, limitHit?.kind], [137, 'wallMs'])
      assert.deepEqual(exitOf(await all(slow.events())).limitHit, limitHit)
      const large = await sh(env, 'head -c 100000 /dev/zero > large', { ...options, limits: { fileBytes: 1000 } })
      assert.equal((await large.wait()).limitHit?.kind, 'fileBytes')
      assert.ok(statSync(dir.at('ws/large')).size <= 1000)
      const modest = await sh(env, 'echo fine', { ...options, limits: { wallMs: 60_000, fileBytes: 1000 } })
      assert.equal(await modest.text(), 'fine\n')
      assert.equal((await modest.wait()).limitHit, undefined)
    }
  })

  test('what cannot be enforced is refused, and nothing is done', async () => {
    await using env = open()
    using dir = workspace()
    const sandbox = { ...profile(dir.ws), useLegacyLandlock: true }
    await fails(sh(env, 'touch done', { cwd: dir.ws, sandbox }), 'SANDBOX_INVALID')
    const write = () => env.files.writeFile(dir.at('ws/done'), '', { sandbox })
    await fails(change(write), 'SANDBOX_INVALID')
    await fails(sh(env, 'touch done', { cwd: dir.ws, limits: { wallMs: 0 } }), 'REFUSED')
    assert.equal(existsSync(dir.at('ws/done')), false)
  })

  test('an environment says what it can enforce', async () => {
    await using env = open()
    const info = await env.sandboxInfo()
    assert.equal(info?.available, true, JSON.stringify(info))
    assert.ok(info.mechanism)
    assert.ok(info.limits?.wallMs)
  })
}
