import assert from 'node:assert/strict'
import { statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { arch, type Call, TestBubblewrap } from './fixtures/bubblewrap.ts'
import type { SeccompOptions } from './seccomp-program.ts'
import { syscallNumber } from './syscalls.ts'

const skip = process.platform === 'linux' && ['x64', 'arm64'].includes(arch) ? false : 'needs Linux on x64 or arm64'

let bubblewrap: TestBubblewrap

/** Checks that these calls are refused by the filter, and by nothing else. */
async function refused(filter: Partial<SeccompOptions>, error: string, calls: Call[]): Promise<void> {
  const present = calls.filter(([name]) => syscallNumber(name, arch) !== undefined)
  const [filtered, unfiltered] = [
    await bubblewrap.results(filter, present),
    await bubblewrap.results('no filter', present),
  ]
  const names = present.map((call) => call.join(' '))
  assert.deepEqual(
    names.map((name, index) => `${name}: ${filtered[index]}`),
    names.map((name) => `${name}: ${error}`),
  )
  for (const [index, name] of names.entries()) assert.notEqual(unfiltered[index], error, `${name} without the filter`)
}

const [UNIX, INET, INET6, NETLINK, ALG, VSOCK] = [1, 2, 10, 16, 38, 40]
const [STREAM, DGRAM] = [1, 2]
const NEWUSER = 0x1000_0000
const SIGCHLD = 17
const HIGH = 0xdead_beef_0000_0000n

describe('under bubblewrap with the filter', { skip }, () => {
  before(() => {
    bubblewrap = new TestBubblewrap()
  })
  after(() => bubblewrap.close())

  for (const network of ['restricted', 'proxy', 'enabled'] as const) {
    test(`(network ${network}) the kernel refuses what the rules name`, async () => {
      await refused({ network }, 'EPERM', [
        ['ptrace', 0, 0, 0, 0],
        ['process_vm_readv', 'self', 0, 0, 0, 0, 0],
        ['kcmp', 'self', 'self', 0, 0, 0],
        ['keyctl', 0, -3, 0],
        ['add_key', 0, 0, 0, 0, 0],
        ['request_key', 0, 0, 0, 0],
        ['fanotify_init', 0x200, 0],
        ['move_pages', 0, 0, 0, 0, 0, 0],
        ['modify_ldt', 0, 0, 0],
        ['unshare', NEWUSER],
        ['unshare', HIGH | BigInt(NEWUSER)],
        ['clone', NEWUSER | SIGCHLD, 0, 0, 0, 0],
        ['clone', HIGH | BigInt(NEWUSER | SIGCHLD), 0, 0, 0, 0],
        ['ioctl', 0, 0x5412, 'buffer'],
        ['ioctl', 0, HIGH | 0x5412n, 'buffer'],
        ['ioctl', 0, 0x541c, 'buffer'],
        ['ioctl', 0, 0x5423, 'buffer'],
        ['socket', VSOCK, STREAM, 0],
        ['socket', HIGH | BigInt(VSOCK), STREAM, 0],
        ['socket', ALG, 5, 0],
      ])
      await refused({ network }, 'ENOSYS', [
        ['clone3', 0, 0],
        ['io_uring_setup', 8, 'buffer'],
        ['io_uring_enter', 0, 0, 0, 0, 0, 0],
        ['io_uring_register', 0, 0, 0, 0],
      ])
    })
  }

  test('there are no sockets but pairs when the network is restricted', async () => {
    await refused({ network: 'restricted' }, 'EPERM', [
      ['socket', UNIX, STREAM, 0],
      ['socket', UNIX, DGRAM, 0],
      ['socket', INET, STREAM, 0],
      ['socket', INET6, DGRAM, 0],
      ['socket', NETLINK, DGRAM, 0],
      ['socketpair', UNIX, DGRAM, 0, 'buffer'],
      ['socketpair', UNIX, HIGH | BigInt(DGRAM), 0, 'buffer'],
      ['sendto', 0, 'buffer', 1, 0, 'buffer', 16],
    ])
    const talk = `
import socket
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    a.send(b'hello')
    print(b.recv(9).decode(), a.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE))
    a.sendmsg([b'again'])
    a.shutdown(socket.SHUT_WR)
    print(b.recvmsg(9)[0].decode())
`
    assert.equal(await bubblewrap.output({}, ['python3', '-c', talk]), 'hello 1\nagain\nhello 5\nagain')
  })

  test('there are TCP sockets and pairs only when there is a proxy', async () => {
    await refused({ network: 'proxy' }, 'EPERM', [
      ['socket', UNIX, STREAM, 0],
      ['socket', UNIX, DGRAM, 0],
      ['socket', INET, DGRAM, 0],
      ['socket', INET6, DGRAM, 0],
      ['socket', NETLINK, DGRAM, 0],
      ['socketpair', UNIX, DGRAM, 0, 'buffer'],
    ])
    const calls: Call[] = [
      ['socket', INET, STREAM, 0],
      ['socket', INET, STREAM, 6],
      ['socketpair', UNIX, STREAM, 0, 'buffer'],
    ]
    assert.deepEqual(await bubblewrap.results({ network: 'proxy' }, calls), ['ok', 'ok', 'ok'])
  })

  test('curl reaches a server with a proxy or an enabled network, and none when it is restricted', async () => {
    const server = createServer((_, response) => response.end('origin')).listen(0, '127.0.0.1')
    try {
      await new Promise((resolve) => server.once('listening', resolve))
      const argv = ['curl', '-sS', '--noproxy', '*', `http://127.0.0.1:${(server.address() as AddressInfo).port}/`]
      assert.equal(await bubblewrap.output({ network: 'enabled' }, argv), 'origin')
      assert.equal(await bubblewrap.output({ network: 'proxy' }, argv), 'origin')
      const { code, stdout } = await bubblewrap.run({ network: 'restricted' }, argv)
      assert.notEqual(code, 0)
      assert.equal(stdout, '')
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  })

  test('a program can list the interfaces when the network is enabled', async () => {
    const script = 'console.log(Object.keys(require("node:os").networkInterfaces()).includes("lo"))'
    assert.equal(await bubblewrap.output({ network: 'enabled' }, ['node', '-e', script]), 'true')
  })

  test('32-bit code dies with its first system call', { skip: arch !== 'x64' && 'needs x64' }, async () => {
    // mov eax, 20 (getpid); int 0x80; ret
    const script = `
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes.fromhex('b814000000cd80c3'))
print('ran', ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))(), flush=True)
`
    const { code, stdout } = await bubblewrap.run({ network: 'enabled' }, ['python3', '-c', script])
    assert.equal(stdout, '')
    // By SIGSYS; a kernel without support for such code has always ended it with SIGSEGV.
    assert.ok(code === 128 + 31 || code === 128 + 11, `ended with ${code}`)
  })

  test('nothing runs with the filter of another architecture', async () => {
    const { code, stdout } = await bubblewrap.run({ arch: arch === 'x64' ? 'arm64' : 'x64' }, ['echo', 'ran'])
    assert.notEqual(code, 0)
    assert.equal(stdout, '')
  })

  test('a program cannot be marked as setuid, by any of the calls for it', async () => {
    await refused({}, 'EPERM', [
      ['chmod', 'buffer', 0o4755],
      ['fchmod', 0, 0o4755],
      ['fchmodat', -1, 'buffer', 0o4755],
      ['fchmodat2', -1, 'buffer', 0o4755, 0],
    ])
    const file = join(bubblewrap.directory, 'program')
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 })
    for (const change of ["os.chmod('program', 0o4755)", "os.fchmod(os.open('program', os.O_RDONLY), 0o6755)"]) {
      const { stderr, code } = await bubblewrap.run({}, ['python3', '-c', `import os; ${change}`])
      assert.equal(code, 1)
      assert.match(stderr, /PermissionError: \[Errno 1\]/)
    }
    const { stderr } = await bubblewrap.run({}, ['chmod', 'u+s', 'program'])
    assert.match(stderr, /Operation not permitted/)
    assert.equal(statSync(file).mode & 0o7777, 0o755)
    await bubblewrap.output({}, ['sh', '-c', 'chmod 700 program && mkdir shared && chmod g+s shared'])
    assert.equal(statSync(file).mode & 0o7777, 0o700)
  })

  test('Python runs threads and pools of processes', async () => {
    const script = `
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pool
if __name__ == '__main__':
    with Pool(2) as pool: print(sum(pool.map(abs, range(-9, 0))))
    with ThreadPoolExecutor(2) as pool: print(sum(pool.map(abs, range(-9, 0))))
`
    assert.equal(await bubblewrap.output({}, ['python3', '-c', script]), '45\n45')
  })

  test('Node reads a standard input that is a socket, and talks to children and workers', async () => {
    const echo = 'process.stdin.on("data", (data) => process.stdout.write(data))'
    assert.equal(await bubblewrap.output({}, ['node', '-e', echo], 'hello'), 'hello')
    const family = `
const { fork } = require('node:child_process')
if (process.send) process.on('message', (text) => { process.send(text + ' child'); process.disconnect() })
else fork(__filename).on('message', (text) => console.log(text)).send('hello')
`
    writeFileSync(join(bubblewrap.directory, 'family.js'), family)
    assert.equal(await bubblewrap.output({}, ['node', 'family.js']), 'hello child')
    const thread = 'new (require("node:worker_threads").Worker)("console.log(1 + 1)", { eval: true })'
    assert.equal(await bubblewrap.output({}, ['node', '-e', thread]), '2')
  })

  test('git and the shell work as ever', async () => {
    const script = `
      git init -q --shared repository && cd repository && echo text > file && git add file
      git -c user.name=n -c user.email=e@example.com commit -qm first && git log --format=%s
      (echo one; echo two) | sort -r | while read line; do echo "$line"; done; sleep 0 & wait; cat <<END
here
END`
    assert.equal(await bubblewrap.output({}, ['sh', '-c', script]), 'first\ntwo\none\nhere')
  })

  test('debuggers and nested namespaces work where they are allowed', async () => {
    const trace: Call[] = [['ptrace', 0, 0, 0, 0]]
    const nest: Call[] = [
      ['unshare', NEWUSER],
      ['clone', NEWUSER | SIGCHLD, 0, 0, 0, 0],
    ]
    assert.deepEqual(await bubblewrap.results({ allowDebugging: true }, [...trace, ...nest]), ['ok', 'EPERM', 'EPERM'])
    assert.deepEqual(await bubblewrap.results({ allowNestedNamespaces: true }, [...trace, ...nest]), [
      'EPERM',
      'ok',
      'ok',
    ])
  })
})
