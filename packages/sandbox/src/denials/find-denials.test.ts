import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PermissionEntry } from '@waldo/protocol'
import fc from 'fast-check'
import { at, bind, FakeHost, glob, roots, special } from '../policy/fixtures/fake-host.ts'
import { type Ending, findDenials } from './find-denials.ts'

const host = new FakeHost({
  '/ws/.git/config': 'text',
  '/ws/secret': 'text',
  '/ws/sdir': '/',
  '/ws/a': 'text',
  '/etc/hostname': 'text',
  '/usr/bin/ld': 'text',
  '/alias': '-> /etc',
})
const WORKSPACE: readonly PermissionEntry[] = [
  { path: special('root'), access: 'read' },
  { path: roots(), access: 'write' },
  { path: at('/ws/secret'), access: 'deny' },
  { path: at('/ws/sdir'), access: 'deny' },
]
const policyOf = (entries: readonly PermissionEntry[]) => bind({ entries, cwd: '/ws', roots: ['/ws'] }, host)
const workspace = policyOf(WORKSPACE)

function find(output: string, more: Partial<Ending> = {}) {
  return findDenials({
    exitCode: 1,
    output,
    policy: workspace,
    cwd: '/ws',
    resolve: (path) => host.resolve(path).path,
    networkBlocks: [],
    ...more,
  })
}

/** `write /etc/x`, `network example.com:80`: short enough for a table. */
function short(output: string, more: Partial<Ending> = {}): string[] {
  const { sandboxDenied, denials } = find(output, more)
  assert.equal(sandboxDenied, denials.length > 0)
  return denials.map((denial) => {
    if (denial.kind === 'syscall') return 'syscall'
    if (denial.kind === 'file') return `${denial.access} ${denial.path ?? '?'}`
    return `network ${denial.host ?? '?'}${denial.port === undefined ? '' : `:${denial.port}`}`
  })
}

/** What the tools themselves print: under bubblewrap, with a read-only root and what is denied covered. */
const FILES: readonly [tool: string, output: string, expected: readonly string[]][] = [
  ['bash', 'bash: line 1: /etc/x: Read-only file system\n', ['write /etc/x']],
  [
    'bash, relative',
    'bash: line 1: ./nope: No such file or directory\nbash: line 1: .git/config: Read-only file system\n',
    ['write /ws/.git/config'],
  ],
  ['bash, script', 'bash: line 1: ./secret: Permission denied\n', ['read /ws/secret']],
  ['bash, cd', 'bash: line 1: cd: sdir: Permission denied\n', ['read /ws/sdir']],
  ['dash', 'dash: 1: cannot create /etc/x: Read-only file system\n', ['write /etc/x']],
  ['dash, reading', 'dash: 1: cannot open secret: Permission denied\n', ['read /ws/secret']],
  ['touch', "touch: cannot touch '/etc/x': Read-only file system\n", ['write /etc/x']],
  ['mkdir, in UTF-8', 'mkdir: cannot create directory ‘/etc/x’: Read-only file system\n', ['write /etc/x']],
  ['cp', "cp: cannot create regular file '/etc/y': Read-only file system\n", ['write /etc/y']],
  ['cp, reading', "cp: cannot open 'secret' for reading: Permission denied\n", ['read /ws/secret']],
  [
    'mv',
    "mv: inter-device move failed: 'a' to '/etc/y'; unable to remove target: Read-only file system\n",
    ['write /etc/y'],
  ],
  ['rm', "rm: cannot remove '/etc/hostname': Read-only file system\n", ['write /etc/hostname']],
  ['ln', "ln: failed to create symbolic link '/usr/l': Read-only file system\n", ['write /usr/l']],
  ['chmod', "chmod: changing permissions of '/etc/hostname': Read-only file system\n", ['write /etc/hostname']],
  ['tee', 'tee: /etc/x: Read-only file system\n', ['write /etc/x']],
  ['cat', 'cat: secret: Permission denied\n', ['read /ws/secret']],
  ['ls', "ls: cannot open directory 'sdir': Permission denied\n", ['read /ws/sdir']],
  ['find', 'sdir\nfind: ‘sdir’: Permission denied\n', ['read /ws/sdir']],
  [
    'grep',
    'grep: ./secret: Permission denied\ngrep: ./sdir: Permission denied\n',
    ['read /ws/secret', 'read /ws/sdir'],
  ],
  [
    'rg',
    './sdir: Permission denied (os error 13)\nsecret: Permission denied (os error 13)\n',
    ['read /ws/sdir', 'read /ws/secret'],
  ],
  ['sed', "sed: couldn't open temporary file /etc/sedtJDhtp: Read-only file system\n", ['write /etc/sedtJDhtp']],
  [
    'tar',
    'tar: /etc/x.tar: Cannot open: Read-only file system\ntar: Error is not recoverable: exiting now\n',
    ['write /etc/x.tar'],
  ],
  ['dd', "dd: failed to open '/etc/x': Read-only file system\n", ['write /etc/x']],
  ['truncate', "truncate: cannot open '/etc/hostname' for writing: Read-only file system\n", ['write /etc/hostname']],
  ['awk', 'awk: cannot open "/etc/x" for output (Read-only file system)\n', ['write /etc/x']],
  ['split', 'split: /etc/xaa: Read-only file system\n', ['write /etc/xaa']],
  ['patch', "patch: **** Can't create temporary file /tmp/ppErNSwN : Read-only file system\n", ['write /tmp/ppErNSwN']],
  ['head', "head: cannot open 'secret' for reading: Permission denied\n", ['read /ws/secret']],
  ['wget', '/etc/x: Read-only file system\n', ['write /etc/x']],
  ['openssl', 'genrsa: Can\'t open "/etc/k" for writing, Read-only file system\n', ['write /etc/k']],
  [
    'ssh-keygen',
    'Saving key "/etc/k" failed: Read-only file system\nGenerating public/private rsa key pair.\n',
    ['write /etc/k'],
  ],
  [
    'ld',
    '/usr/bin/ld: cannot open output file /etc/x: Read-only file system\ncollect2: error: ld returned 1 exit status\n',
    ['write /etc/x'],
  ],
  [
    'make',
    "touch /etc/x\ntouch: cannot touch '/etc/x': Read-only file system\nmake: *** [Makefile:2: x] Error 1\n",
    ['write /etc/x'],
  ],
  [
    'apt-get',
    'Reading package lists...\nW: Not using locking for read only lock file /var/lib/dpkg/lock\n' +
      'E: Unable to mkstemp /tmp/clearsigned.message.awW907 - GetTempFile (30: Read-only file system)\n' +
      'E: The package lists or status file could not be parsed or opened.\n',
    ['write /tmp/clearsigned.message.awW907'],
  ],
  ['git init', 'fatal: cannot mkdir /etc/repo: Read-only file system\n', ['write /etc/repo']],
  ['git clone', "fatal: could not create work tree dir '/usr/x': Read-only file system\n", ['write /usr/x']],
  ['git add', "fatal: Unable to create '/ws/.git/index.lock': Read-only file system\n", ['write /ws/.git/index.lock']],
  [
    'git tag',
    "fatal: cannot lock ref 'refs/tags/t': Unable to create '/ws/.git/refs/tags/t.lock': Read-only file system\n",
    ['write /ws/.git/refs/tags/t.lock'],
  ],
  ['git config', 'error: could not lock config file .git/config: Read-only file system\n', ['write /ws/.git/config']],
  [
    'python',
    'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n' +
      "OSError: [Errno 30] Read-only file system: '/etc/x'\n",
    ['write /etc/x'],
  ],
  ['python, reading', "PermissionError: [Errno 13] Permission denied: 'secret'\n", ['read /ws/secret']],
  ['python, bytes', "OSError: [Errno 30] Read-only file system: b'/etc/x'\n", ['write /etc/x']],
  ['python -m venv', "Error: [Errno 30] Read-only file system: '/etc/venv'\n", ['write /etc/venv']],
  [
    'node',
    "node:fs:2380\n    return binding.writeFileUtf8(\n                   ^\n\nError: EROFS: read-only file system, open '/etc/x'\n" +
      "    at Object.writeFileSync (node:fs:2380:20)\n    at [eval]:1:4\n  errno: -30,\n  code: 'EROFS',\n" +
      "  syscall: 'open',\n  path: '/etc/x'\n}\n\nNode.js v20.20.2\n",
    ['write /etc/x'],
  ],
  ['node, reading', "Error: EACCES: permission denied, open 'secret'\n", ['read /ws/secret']],
  ['node, copying', "Error: EROFS: read-only file system, copyfile 'a' -> '/etc/y'\n", ['write /etc/y']],
  [
    'bun',
    "1 | await Bun.write('/etc/x','')\n              ^\nEROFS: read-only file system, open '/etc/x'\n    path: \"/etc/x\",\n" +
      ' syscall: "open",\n   errno: -30,\n    code: "EROFS"\n',
    ['write /etc/x'],
  ],
  ['perl', 'Cannot open /etc/x: Read-only file system at -e line 1.\n', ['write /etc/x']],
  ['perl, reading', "Can't open secret: Permission denied\n", ['read /ws/secret']],
  [
    'java.io',
    'Exception in thread "main" java.io.FileNotFoundException: /etc/x (Read-only file system)\n' +
      '\tat java.base/java.io.FileOutputStream.open0(Native Method)\n',
    ['write /etc/x'],
  ],
  [
    'java.nio',
    'Exception in thread "main" java.nio.file.FileSystemException: /etc/x: Read-only file system\n',
    ['write /etc/x'],
  ],
  [
    'java.io, reading',
    'Exception in thread "main" java.io.FileNotFoundException: /ws/secret (Permission denied)\n',
    ['read /ws/secret'],
  ],
  [
    'cargo',
    '    Creating binary (application) package\nerror: failed to create package `abc` at `/etc/abc`\n\nCaused by:\n' +
      '  failed to create directory `/etc/abc`\n\nCaused by:\n  Read-only file system (os error 30)\n',
    ['write /etc/abc'],
  ],
  ['rust', 'Error: Read-only file system (os error 30)\n', ['write ?']],
  [
    'rust, unwrapped',
    "thread 'main' (2) panicked at m.rs:2:87:\ncalled `Result::unwrap()` on an `Err` value: Os { code: 30, kind: " +
      'ReadOnlyFilesystem, message: "Read-only file system" }\n',
    ['write ?'],
  ],
  ['zip', 'zip I/O error: Read-only file system\nzip error: Could not create output file (/etc/x.zip)\n', ['write ?']],
  ['ed', 'Read-only file system\n', ['write ?']],
  ['touch after cd', "touch: cannot touch 'x': Read-only file system\n", ['write ?']],
]

/** The same in the words of programs that are not at hand here. */
const OTHER_FILES: readonly [tool: string, output: string, expected: readonly string[]][] = [
  ['go', 'open /etc/x: read-only file system\n', ['write /etc/x']],
  ['go, log', '2026/01/02 03:04:05 mkdir /etc/a b: read-only file system\n', ['write /etc/a b']],
  ['go, panic', 'panic: open /ws/secret: permission denied\n', ['read /ws/secret']],
  ['go, two paths', 'rename /ws/a /etc/b: read-only file system\n', ['write /etc/b']],
  ['ruby', "-e:1:in `initialize': Read-only file system @ rb_sysopen - /etc/x (Errno::EROFS)\n", ['write /etc/x']],
  [
    'php',
    'PHP Warning:  file_put_contents(/etc/x): Failed to open stream: Read-only file system in - on line 1\n',
    ['write /etc/x'],
  ],
  [
    'npm',
    "npm error code EROFS\nnpm error syscall mkdir\nnpm error rofs EROFS: read-only file system, mkdir '/etc/x'\n",
    ['write /etc/x'],
  ],
  ['macOS', 'bash: /etc/x: Operation not permitted\n', ['write /etc/x']],
  ['macOS, reading', 'cat: /ws/secret: Operation not permitted\n', ['read /ws/secret']],
  ['a terminal', "\u001b[31mtouch\u001b[0m: cannot touch '/etc/x': Read-only file system\r\n", ['write /etc/x']],
  ['a link', 'tee: /alias/x: Read-only file system\n', ['write /etc/x']],
]

describe('what tools print when the sandbox denies them a file', () => {
  for (const [tool, output, expected] of [...FILES, ...OTHER_FILES]) {
    test(`is understood from ${tool}`, () => assert.deepEqual(short(output), expected))
  }

  test('is reported with the rule that decided', () => {
    const [denial] = find('cat: secret: Permission denied\n').denials
    assert.deepEqual(denial, {
      kind: 'file',
      path: '/ws/secret',
      access: 'read',
      rule: 'deny /ws/secret',
      confidence: 'likely',
    })
    assert.equal(find("touch: cannot touch '.git/x': Read-only file system").denials[0]?.rule, 'protected name .git')
    const byPattern = policyOf([...WORKSPACE, glob('*.env')])
    assert.equal(find('cat: a.env: Permission denied', { policy: byPattern }).denials[0]?.rule, 'deny /ws/*.env')
    const nothingSaid = policyOf([{ path: roots(), access: 'read' }])
    assert.equal(find('cat: /etc/x: Permission denied', { policy: nothingSaid }).denials[0]?.rule, 'not in the profile')
  })

  test('is a mere possibility if it does not say of what', () => {
    assert.deepEqual(find('Read-only file system\n').denials, [
      { kind: 'file', access: 'write', rule: 'the profile limits what can be written', confidence: 'possible' },
    ])
  })
})

const NETWORK: readonly [tool: string, output: string, expected: readonly string[]][] = [
  ['curl', 'curl: (6) Could not resolve host: example.com\n', ['network example.com']],
  [
    'curl, address',
    "curl: (7) Failed to connect to 1.1.1.1 port 80 after 0 ms: Couldn't connect to server\n",
    ['network 1.1.1.1:80'],
  ],
  [
    'wget',
    '--2026-11-15 12:39:52--  http://example.com/\nResolving example.com (example.com)... failed: Temporary failure in name ' +
      'resolution.\nwget: unable to resolve host address ‘example.com’\n',
    ['network example.com'],
  ],
  [
    'git, https',
    "Cloning into 'b'...\nfatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com\n",
    ['network github.com'],
  ],
  [
    'ssh',
    'ssh: Could not resolve hostname github.com: Temporary failure in name resolution\n' +
      'fatal: Could not read from remote repository.\n',
    ['network github.com'],
  ],
  [
    'npm',
    'npm error code EAI_AGAIN\nnpm error syscall getaddrinfo\nnpm error errno EAI_AGAIN\nnpm error request to ' +
      'https://packages.example.com/express failed, reason: getaddrinfo EAI_AGAIN packages.example.com\n',
    ['network packages.example.com'],
  ],
  [
    'pip',
    "WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3." +
      "connection.HTTPSConnection object at 0x7fa70f804dd0>: Failed to establish a new connection: [Errno -2] Name or service not known')': /simple/requests/\n",
    ['network ?'],
  ],
  ['node', 'TypeError: fetch failed\n  [cause]: Error: getaddrinfo EAI_AGAIN example.com\n', ['network example.com']],
  ['node, address', 'Error: connect EPERM 1.1.1.1:80 - Local (undefined:undefined)\n', ['network 1.1.1.1:80']],
  ['node, listening', 'Error: listen EPERM: operation not permitted 0.0.0.0:8080\n', ['network 0.0.0.0:8080']],
  ['python', 'socket.gaierror: [Errno -3] Temporary failure in name resolution\n', ['network ?']],
  [
    'python, address',
    '  File "/usr/lib/python3.11/socket.py", line 232, in __init__\n    _socket.socket.__init__(self, family, type, proto, fileno)\n' +
      'PermissionError: [Errno 1] Operation not permitted\n',
    ['network ?'],
  ],
  ['java', 'Exception in thread "main" java.net.SocketException: Operation not permitted\n', ['network ?']],
  [
    'rust',
    'called `Result::unwrap()` on an `Err` value: Custom { kind: Uncategorized, error: "failed to lookup address information: ' +
      'Temporary failure in name resolution" }\n',
    ['network ?'],
  ],
  [
    'cargo',
    'warning: spurious network error (3 tries remaining): [6] Could not resolve hostname (Could not resolve host: index.crates.io)\n',
    ['network index.crates.io'],
  ],
  [
    'bash',
    'bash: socket: Operation not permitted\nbash: line 1: /dev/tcp/1.1.1.1/80: Operation not permitted\n',
    ['network 1.1.1.1:80'],
  ],
  [
    'psql',
    'psql: error: connection to server at "1.1.1.1", port 5432 failed: could not create socket: Operation not permitted\n',
    ['network 1.1.1.1:5432'],
  ],
  [
    'docker',
    'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get ' +
      '"http://%2Fvar%2Frun%2Fdocker.sock/v1.50/containers/json": dial unix /var/run/docker.sock: socket: operation not permitted\n',
    ['network ?'],
  ],
  [
    'openssl',
    '80CBE0AF117F0000:error:10080002:BIO routines:BIO_lookup_ex:system lib:../crypto/bio/bio_addr.c:746:Temporary failure ' +
      'in name resolution\nconnect:errno=11\n',
    ['network ?'],
  ],
  ['perl', 'connect: IO::Socket::INET: Operation not permitted Operation not permitted at -e line 1.\n', ['network ?']],
  ['ip', 'Cannot open netlink socket: Operation not permitted\n', ['network ?']],
  ['go', 'dial tcp: lookup example.com: Temporary failure in name resolution\n', ['network example.com']],
  ['go, address', 'dial tcp 1.1.1.1:443: connect: network is unreachable\n', ['network 1.1.1.1:443']],
  ['ping', 'ping: example.com: Name or service not known\n', ['network example.com']],
]

describe('what tools print when the sandbox denies them the network', () => {
  for (const [tool, output, expected] of NETWORK) {
    test(`is understood from ${tool}`, () => assert.deepEqual(short(output), expected))
  }

  test('is not the doing of a sandbox that lets everybody through', () => {
    const open = { ...workspace, network: 'enabled' as const }
    for (const [tool, output] of NETWORK) assert.deepEqual(short(output, { policy: open }), [], tool)
  })

  test('is not a connection that was refused, or that nobody waits for here', () => {
    for (const output of [
      'Error: connect ECONNREFUSED 127.0.0.1:80\n',
      "curl: (7) Failed to connect to localhost port 3000 after 0 ms: Couldn't connect to server\n",
      "curl: (7) Failed to connect to 127.0.0.1 port 3128 after 0 ms: Couldn't connect to server\n",
      'ssh: connect to host 1.1.1.1 port 22: Connection refused\n',
    ]) {
      assert.deepEqual(short(output), [], output)
    }
  })
})

describe('what is not a denial of the sandbox', () => {
  const nothing: readonly [why: string, output: string][] = [
    ['no path', 'permission denied\n'],
    ['a path that may be read', 'cat: /etc/shadow: Permission denied\n'],
    ['a path that may be written', "touch: cannot touch '/ws/x': Read-only file system\n"],
    ['a path that may be written, denied by others', "cp: cannot create regular file '/ws/x': Permission denied\n"],
    ['a program that may not be run', 'bash: line 1: /etc/hostname: Permission denied\n'],
    ['a process of others', 'bash: line 0: kill: (1) - Operation not permitted\n'],
    ['a call that has nothing to do with files', 'strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted\n'],
    ['a mount', 'mount: /mnt: permission denied.\n'],
    ['a directory that is called sandbox', './sandbox\n./landlock\n./seccomp\n'],
    ['a missing file', 'cat: /etc/nothing: No such file or directory\n'],
    ['a busy directory', "rm: cannot remove '.git': Device or resource busy\n"],
    ['nothing', ''],
  ]
  for (const [why, output] of nothing) test(`because of ${why}`, () => assert.deepEqual(short(output), []))

  test('because the command succeeded', () => {
    for (const [tool, output] of [...FILES, ...NETWORK]) assert.deepEqual(short(output, { exitCode: 0 }), [], tool)
    const networkBlocks = [{ host: 'example.com', port: 443, reason: 'not_allowed' }]
    assert.deepEqual(short('', { exitCode: 0, networkBlocks }), [])
  })

  test('because files are not restricted', () => {
    const policy = { files: undefined, network: 'restricted' as const, skipped: [] }
    for (const [tool, output] of FILES) assert.deepEqual(short(output, { policy }), [], tool)
  })

  test('because somebody else denied it: a write by permissions, where the policy would have denied it too, is one', () => {
    assert.deepEqual(short("touch: cannot touch '/etc/passwd': Permission denied\n"), ['write /etc/passwd'])
    assert.deepEqual(short('bash: /etc/passwd: Permission denied\n'), [])
  })
})

describe('what somebody of ours refused', () => {
  test('is possible: a system call that kills', () => {
    assert.deepEqual(find('', { exitCode: 159 }).denials, [
      { kind: 'syscall', rule: 'system call filter', confidence: 'possible' },
    ])
  })

  test('is certain: a connection that the proxy did not let through', () => {
    const networkBlocks = [
      { host: 'example.com', port: 443, reason: 'not_allowed' },
      { host: 'example.com', port: 443, reason: 'not_allowed' },
    ]
    assert.deepEqual(find('curl: (6) Could not resolve host: other.test', { networkBlocks }).denials, [
      { kind: 'network', host: 'example.com', port: 443, rule: 'not_allowed', confidence: 'certain' },
      { kind: 'network', host: 'other.test', rule: 'network restricted', confidence: 'likely' },
    ])
  })
})

describe('output of any size and kind', () => {
  test('gives at most 32 denials, each once', () => {
    const output = Array.from({ length: 1000 }, (_, index) => `tee: /etc/${index % 50}: Read-only file system`).join(
      '\n',
    )
    const { denials } = find(output)
    assert.equal(denials.length, 32)
    assert.equal(new Set(denials.map((denial) => JSON.stringify(denial))).size, 32)
  })

  test('makes us look at a limited number of paths', () => {
    let looks = 0
    const resolve = (path: string) => {
      looks++
      return path
    }
    const line = (index: number) => `cp: '/a/${index}' '/b/${index}' '/c/${index}' '/d/${index}': Read-only file system`
    find(Array.from({ length: 2000 }, (_, index) => line(index)).join('\n'), { resolve })
    assert.equal(looks, 256)
  })

  test('is read in linear time, however nasty', () => {
    const size = 512 * 1024
    const reason = 'Permission denied'
    const nasty = [
      "'".repeat(size),
      "' ".repeat(size / 2) + reason,
      `${' '.repeat(size)}${reason}`,
      `${': '.repeat(size / 2)}${reason}`,
      `${'/ '.repeat(size / 2)}${reason}`,
      `${'('.repeat(size / 2)}${reason}${')'.repeat(size / 2)}`,
      `${reason}\n`.repeat(size / 18),
      `${reason} `.repeat(size / 18),
      `${"'a'b".repeat(100)}${reason}\n`.repeat(size / 450),
      `${'‘'.repeat(200)}${reason}\n`.repeat(size / 220),
      `${' ('.repeat(200)}${reason}\n`.repeat(size / 420),
      'EPERM socket '.repeat(size / 13),
      'could not resolve host '.repeat(size / 23),
      `could not resolve host ${'a.'.repeat(size / 2)}`,
      '\u001b['.repeat(size / 2),
      `\u001b[${'0;'.repeat(size / 2)}`,
      '\u001b]'.repeat(size / 2),
      'connect E'.repeat(size / 9),
      `${'dial tcp '.repeat(size / 9)}EPERM`,
      'caused by:\n'.repeat(size / 11),
      '\n'.repeat(size),
      '\r'.repeat(size),
    ]
    for (const output of nasty) assert.ok(find(output, { cwd: '/' }).denials.length <= 32)
  })

  test('never throws, and never reports what the policy allows', () => {
    const word = fc.constantFrom(
      "'",
      '"',
      '`',
      '‘',
      '’',
      ':',
      ' ',
      '/',
      'a',
      '/ws/a',
      '/etc/x',
      '(',
      ')',
      '\n',
      '-',
      'EROFS',
      'EPERM',
    )
    const reason = fc.constantFrom('Read-only file system', 'Permission denied', 'Operation not permitted')
    fc.assert(
      fc.property(fc.array(fc.oneof(word, reason), { maxLength: 40 }), (words) => {
        for (const denial of find(words.join('')).denials) {
          if (denial.kind !== 'file' || denial.path === undefined) continue
          const { access } = workspace.files!.decide(denial.path)
          assert.ok(denial.access === 'read' ? access === 'none' : access !== 'write', denial.path)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
