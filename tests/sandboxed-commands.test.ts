import assert from 'node:assert/strict'
import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { RawClient, startServer, type TestServer } from '@waldo/testkit'

const root = mkdtempSync('/var/tmp/waldo-commands-')
const workspace = join(root, 'workspace')
mkdirSync(workspace)
let server: TestServer
before(async () => {
  server = await startServer()
})
after(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
})

const special = (kind: string, access: string) => ({ path: { type: 'special', value: { kind } }, access })
/** The profile of most commands: everything can be read, and the workspace written to. */
function workspaceWrite(more: object[] = [], network = 'restricted') {
  const entries = [special('root', 'read'), special('project_roots', 'write'), ...more]
  return {
    permissions: { type: 'managed', file_system: { type: 'restricted', entries }, network },
    cwd: `file://${workspace}`,
    workspaceRoots: [`file://${workspace}`],
    windowsSandboxLevel: 'disabled',
  }
}
/** A proxy that lets through only what goes to one host, and nothing beside it. */
function managedNetwork(host: string) {
  const proxy = {
    ...{ enabled: true, enableSocks5: true, enableSocks5Udp: false, allowUpstreamProxy: false },
    ...{ dangerouslyAllowAllUnixSockets: false, mode: 'full', allowLocalBinding: true, domains: { [host]: 'allow' } },
  }
  return { enforceManagedNetwork: true, networkProxy: { proxy } }
}
const DISABLED = { permissions: { type: 'disabled' }, windowsSandboxLevel: 'disabled' }

let count = 0
const startParams = (script: string, more: object) => ({
  processId: `c${++count}`,
  argv: ['/bin/sh', '-c', script],
  cwd: `file://${workspace}`,
  env: { PATH: '/usr/bin:/bin' },
  tty: false,
  ...more,
})

async function run(client: RawClient, script: string, more: object) {
  const params = startParams(script, more)
  const { sandboxType } = await client.call('process/start', params)
  await client.untilClosed(params.processId)
  const page = await client.call('process/read', { processId: params.processId })
  const text = (stream: string) =>
    page.chunks
      .filter((chunk: { stream: string }) => chunk.stream === stream)
      .map(({ chunk }: { chunk: string }) => Buffer.from(chunk, 'base64').toString())
      .join('')
  return { ...page, sandboxType, stdout: text('stdout'), stderr: text('stderr') }
}

describe('sandboxed commands', () => {
  test('run plainly where there is nothing to enforce', async () => {
    await using client = await RawClient.connect(server.url)
    const { sandboxType, stdout } = await run(client, 'echo $WALDO_SANDBOX.', { sandbox: DISABLED })
    assert.deepEqual([sandboxType, stdout], ['none', '.\n'])
  })

  test('do not see what the kernel tells root, also if that is mounted between two of them', async (context) => {
    const place = '/sys/kernel/tracing'
    const mount = () => Bun.spawnSync(['mount', '-t', 'tracefs', 'none', place]).success
    const unmount = () => Bun.spawnSync(['umount', place]).success
    const isMounted = () => lstatSync(place).dev !== lstatSync('/sys/kernel').dev
    const wasMounted = isMounted()
    if (wasMounted ? !unmount() : !(mount() && unmount())) return context.skip('nothing can be mounted here')
    await using client = await RawClient.connect(server.url)
    const read = () => run(client, `head -c 1 ${place}/trace`, { sandbox: workspaceWrite() })
    try {
      assert.match((await read()).stderr, /No such file/)
      assert.ok(mount())
      const { stdout, stderr } = await read()
      assert.equal(stdout, '')
      assert.match(stderr, /Permission denied/)
    } finally {
      if (isMounted() && !wasMounted) unmount()
    }
  })

  test('say what they were denied, and by what', async () => {
    await using client = await RawClient.connect(server.url)
    const sandbox = workspaceWrite()
    const { sandboxType, exitCode, sandboxDenied, sandboxDenials } = await run(
      client,
      `echo x > ${root}/outside || exit 3`,
      { sandbox },
    )
    assert.deepEqual([sandboxType, exitCode, sandboxDenied], ['linuxSeccomp', 3, true])
    const denial = { kind: 'file', path: `${root}/outside`, access: 'write', rule: 'read root', confidence: 'likely' }
    assert.deepEqual(sandboxDenials, [denial])
    const own = await run(client, 'echo "cat: /nowhere/x: Permission denied" >&2; exit 1', { sandbox })
    assert.deepEqual([own.sandboxDenied, own.sandboxDenials], [false, undefined])
  })

  test('that must have a managed network are refused without a sandbox or a proxy', async () => {
    await using client = await RawClient.connect(server.url)
    for (const sandbox of [undefined, workspaceWrite()]) {
      const failure = await client.failure(
        'process/start',
        startParams('true', { sandbox, enforceManagedNetwork: true }),
      )
      assert.equal(failure.code, -32602)
      assert.match(failure.message, /enforceManagedNetwork needs a (sandbox|networkProxy)/)
    }
  })

  test('bring no code of theirs to what starts them: variables are set inside', async () => {
    await using client = await RawClient.connect(server.url)
    const source = join(root, 'preloaded.c')
    const library = join(workspace, 'preloaded.so')
    const mark = join(root, 'was-here')
    writeFileSync(
      source,
      `#include <fcntl.h>\n__attribute__((constructor)) void run(void) { open("${mark}", O_CREAT | O_WRONLY, 0600); }\n`,
    )
    const compiled = Bun.spawnSync(['gcc', '-shared', '-fPIC', '-o', library, source])
    assert.equal(compiled.exitCode, 0, `type: apt-get install -y gcc (${compiled.stderr})`)
    const env = { PATH: '/usr/bin:/bin', LD_PRELOAD: library }
    for (const tty of [false, true]) {
      const { stdout } = await run(client, 'echo $LD_PRELOAD', { env, tty, sandbox: workspaceWrite() })
      if (!tty) assert.equal(stdout, `${library}\n`)
      assert.equal(existsSync(mark), false)
    }
    // It does what it is there for where nothing keeps it from that.
    await run(client, 'true', { env })
    assert.equal(existsSync(mark), true)
  })

  test('cannot ask the executor itself for anything, though they have its network', async () => {
    await using client = await RawClient.connect(server.url)
    const { port } = new URL(server.url)
    const upgrade = `curl -sS -m 5 -o - -w '%{http_code}' -H 'Connection: Upgrade' -H 'Upgrade: websocket' \\
      -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' http://127.0.0.1:${port}/`
    const inside = await run(client, upgrade, { sandbox: workspaceWrite([], 'enabled') })
    assert.match(inside.stdout, /inside a sandbox.*403$/)
    const outside = await run(client, `${upgrade}; true`, {})
    assert.match(outside.stdout, /101$/)
    const proxied = await run(client, upgrade.replace('curl', 'curl --noproxy none -x $HTTP_PROXY'), {
      sandbox: workspaceWrite(),
      ...managedNetwork('127.0.0.1'),
    })
    assert.match(proxied.stdout, /inside a sandbox.*403$/)
  })

  test('that reach a limit say so', async () => {
    await using client = await RawClient.connect(server.url)
    const started = await run(client, 'while :; do :; done', { sandbox: workspaceWrite(), limits: { wallMs: 300 } })
    assert.deepEqual([started.exitCode, started.limitHit.kind], [137, 'wallMs'])
    const refused = await client.failure('process/start', startParams('true', { limits: { processes: 0 } }))
    assert.equal(refused.code, -32602)
  })

  test('that cannot see their own program never begin, and that is told', async () => {
    await using client = await RawClient.connect(server.url)
    const hidden = { path: { type: 'path', path: 'file:///usr/bin' }, access: 'deny' }
    const { exitCode, sandboxFailed, stderr } = await run(client, 'true', { sandbox: workspaceWrite([hidden]) })
    assert.deepEqual([exitCode, sandboxFailed], [101, true])
    assert.match(stderr, /bwrap: /)
  })
})

describe('an executor', () => {
  test('says what it can enforce', async () => {
    await using client = await RawClient.connect(server.url)
    const { sandbox, capabilities } = await client.call('environment/info')
    assert.deepEqual([sandbox.available, sandbox.mechanism, sandbox.limits.wallMs], [true, 'bubblewrap', 'timer'])
    assert.equal(capabilities.sandboxInfo, true)
  })
})
