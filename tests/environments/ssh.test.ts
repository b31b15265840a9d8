import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net'
import { test } from 'node:test'
import { connect } from '@waldo/sdk'
import { until } from './collect.ts'
import { scratch, WALDO } from './scratch.ts'

const SSHD = '/usr/sbin/sshd'
const KEYGEN = '/usr/bin/ssh-keygen'

/** Installs it where that is possible. */
function requireSshd(): void {
  if (existsSync(SSHD) && spawnSync('ssh', ['-V']).status === 0) return
  const install = 'apt-get install -y --no-install-recommends openssh-server openssh-client'
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  if (process.getuid?.() === 0) spawnSync('sh', ['-c', `${install} || (apt-get update && ${install})`], { env })
  assert.ok(existsSync(SSHD), `this test needs a real sshd; as root: ${install}`)
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function startSshd(dir: ReturnType<typeof scratch>) {
  const port = await freePort()
  for (const key of ['host', 'user']) execFileSync(KEYGEN, ['-q', '-t', 'ed25519', '-N', '', '-f', dir.at(key)])
  writeFileSync(dir.at('authorized'), readFileSync(dir.at('user.pub')), { mode: 0o600 })
  // Where it separates privileges; the package makes it when its service is started.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const config = {
    Port: port,
    ListenAddress: '127.0.0.1',
    HostKey: dir.at('host'),
    AuthorizedKeysFile: dir.at('authorized'),
    PidFile: 'none',
    StrictModes: 'no',
    UsePAM: 'no',
    PasswordAuthentication: 'no',
    PermitRootLogin: 'prohibit-password',
  }
  writeFileSync(
    dir.at('config'),
    Object.entries(config)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(''),
  )
  const child = spawn(SSHD, ['-D', '-e', '-f', dir.at('config')], { stdio: ['ignore', 'ignore', 'pipe'] })
  let complaint = ''
  child.stderr.on('data', (bytes: Buffer) => {
    complaint += bytes.toString()
  })
  await until(async () => {
    assert.equal(child.exitCode, null, `sshd has ended: ${complaint}`)
    return await answers(port)
  })
  return {
    port,
    complaint: () => complaint,
    async [Symbol.asyncDispose]() {
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp(port, '127.0.0.1')
    const done = (result: boolean) => {
      socket.destroy()
      resolve(result)
    }
    socket.once('data', () => done(true)).once('error', () => done(false))
  })
}

/** Those whose command line has this text in it. */
function processesWith(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')]
      } catch {
        return [] // It has ended meanwhile.
      }
    })
    .filter((line) => line.includes(text))
}

test('a machine behind ssh runs commands and reads files, and nothing is left behind', async () => {
  requireSshd()
  using dir = scratch()
  {
    await using sshd = await startSshd(dir)
    const options = {
      StrictHostKeyChecking: 'no',
      UserKnownHostsFile: dir.at('known'),
      IdentityFile: dir.at('user'),
      IdentitiesOnly: 'yes',
      BatchMode: 'yes',
      LogLevel: 'ERROR',
    }
    const args = [
      ...['-F', 'none', '-p', String(sshd.port)],
      ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
      '127.0.0.1',
      `${WALDO} serve --listen stdio --state-dir ${dir.at('state')}`,
    ]
    const env = connect({ program: 'ssh', args, initializeTimeoutMs: 30_000 })
    const process = await env.processes.start(['sh', '-c', 'echo "from $SSH_CONNECTION"; cat'], { stdin: true })
    await process.write('over ssh\n')
    await process.closeStdin()
    assert.match(await process.text(), /^from 127\.0\.0\.1 .*\nover ssh\n$/)
    assert.equal((await process.wait()).exitCode, 0)
    assert.equal(await env.files.readText(dir.at('authorized')), readFileSync(dir.at('user.pub'), 'utf8'))
    const data = Buffer.alloc(5_000_000, 'ssh')
    await env.files.writeFile(dir.at('data'), data)
    assert.ok(Buffer.from(await env.files.readFile(dir.at('data'))).equals(data))
    await env.processes.start(['sleep', '1000'], { arg0: dir.at('sleeper') })
    await env.close()
    await until(() => processesWith(dir.path).every((line) => line.startsWith('sshd: /') || line.startsWith(SSHD)))
  }
  await until(() => processesWith(dir.path).length === 0)
})
