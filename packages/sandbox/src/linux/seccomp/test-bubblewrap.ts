import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SeccompOptions, seccompProgram } from './seccomp-program.ts'
import { type SeccompArch, type SyscallName, syscallNumber } from './syscalls.ts'

export const arch = process.arch as SeccompArch

/** What is not given is restricted. */
type Filter = Partial<SeccompOptions> | 'no filter'

/** `buffer` is the address of some zeros, `self` is the caller's process id. */
export type Call = [SyscallName, ...args: (number | bigint | 'buffer' | 'self')[]]

const CALL_EACH = `
import ctypes, errno, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
zeros = ctypes.create_string_buffer(4096)
def call(number, args):
    places = {'buffer': ctypes.addressof(zeros), 'self': os.getpid()}
    values = [ctypes.c_ulong(places[arg] if arg in places else int(arg)) for arg in args]
    done = libc.syscall(ctypes.c_long(number), *values)
    return 0 if done >= 0 else ctypes.get_errno()
for number, args in json.load(sys.stdin):
    # In a process of its own, because some calls change the caller. One that clone has made ends here, too.
    child = os.fork()
    if child == 0:
        code = 255
        try: code = call(number, args)
        finally: os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print('ok' if code == 0 else errno.errorcode.get(code, code))
`

/** For tests: commands in a sandbox that has one directory to write to, and no other protection than the filter. */
export class TestBubblewrap {
  readonly directory = mkdtempSync(join(tmpdir(), 'waldo-seccomp-'))

  /** Runs a command under bubblewrap and the filter, or under bubblewrap alone. The network is not isolated otherwise. */
  async run(filter: Filter, argv: string[], input = '') {
    for (const [program, name] of [['bwrap', 'bubblewrap'], [argv[0]!]] as const) {
      assert.ok(Bun.which(program), `${program} is missing, type: apt-get install -y ${name ?? program}`)
    }
    const filtered = filter === 'no filter' ? [] : ['--seccomp', '3']
    const child = Bun.spawn(
      [
        ...['bwrap', '--die-with-parent', '--unshare-user', '--unshare-pid', '--unshare-ipc', '--cap-drop', 'ALL'],
        ...['--ro-bind', '/', '/', '--bind', this.directory, this.directory, '--chdir', this.directory],
        ...['--dev', '/dev', '--proc', '/proc', ...filtered, '--', ...argv],
      ],
      // The pipes are pairs of sockets, as those of Node are.
      { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], env: { ...process.env, HOME: this.directory }, timeout: 50_000 },
    )
    const descriptor = child.stdio[3] as number
    try {
      if (filter !== 'no filter') writeSync(descriptor, seccompProgram({ arch, network: 'restricted', ...filter }))
    } finally {
      closeSync(descriptor)
    }
    child.stdin.write(input)
    await child.stdin.end()
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    return { stdout, stderr, code }
  }

  /** The standard output of a command that ends well. */
  async output(filter: Filter, argv: string[], input = ''): Promise<string> {
    const { stdout, stderr, code } = await this.run(filter, argv, input)
    assert.equal(code, 0, stderr)
    return stdout.trim()
  }

  /** The name of the error of each call, or `ok`. */
  async results(filter: Filter, calls: Call[]): Promise<string[]> {
    const input = calls.map(([name, ...args]) => [syscallNumber(name, arch), args.map(String)] as const)
    return (await this.output(filter, ['python3', '-c', CALL_EACH], JSON.stringify(input))).split('\n')
  }

  close(): void {
    rmSync(this.directory, { recursive: true })
  }
}
