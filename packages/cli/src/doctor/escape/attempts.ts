/** Where tools are looked for, here and inside. What else is on our own PATH may be out of reach in a sandbox. */
export const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin'

/**
 * A script of the shell that ends with 0 if it got through; whatever it does is harmless then. It starts in the
 * workspace, and has variables: OUTSIDE is a directory of the host, EXECUTOR the state directory, BYSTANDER the pid of a
 * process, PORT and SOCKET are listened on, and TOKEN is in the names of things.
 */
interface Way {
  /** The program that it takes. */
  readonly needs?: string
  readonly script: string
}

export interface Attempt {
  /** What a command must not be able to do. */
  readonly title: string
  /** All of those that can be gone here are. */
  readonly ways: readonly Way[]
}

const PYTHON = 'python3 -ISc'

export const ATTEMPTS: readonly Attempt[] = [
  {
    title: 'write outside the workspace',
    ways: [{ script: 'echo x > "$OUTSIDE/made" || echo x >> ../outside/kept || rm "$OUTSIDE/kept"' }],
  },
  {
    title: 'write outside through a symbolic link',
    ways: [{ script: 'echo x > link/made || { ln -s "$OUTSIDE/kept" own && echo x >> own; }' }],
  },
  {
    title: 'write outside through a hard link',
    ways: [{ script: 'ln "$OUTSIDE/kept" hard && echo x >> hard' }],
  },
  {
    title: 'change .git',
    ways: [{ script: 'echo x >> .git/config || mkdir .git/hooks || mv .git moved || rm -r .git' }],
  },
  {
    title: 'make .codex or .agents',
    ways: [{ script: 'mkdir .codex || echo x > .codex/config.toml || mkdir .agents || ln -s kept .agents' }],
  },
  {
    title: 'read a file that is denied',
    ways: [
      { script: 'cat denied/secret || cat "/proc/1/root$PWD/denied/secret" || { ln -s denied d; cat d/secret; }' },
    ],
  },
  {
    title: 'uncover a directory that is denied',
    ways: [
      { script: 'chmod 700 denied; umount denied; cat denied/secret || { mv denied moved && cat moved/secret; }' },
    ],
  },
  {
    title: "read the executor's own files",
    ways: [{ script: 'ls "$EXECUTOR/."' }],
  },
  {
    // The brackets keep it from finding itself.
    title: 'see other processes',
    ways: [{ script: `cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep "[b]ystander-$TOKEN"` }],
  },
  {
    title: 'read the environment of other processes',
    ways: [{ script: `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep '^WALDO_DOCTOR_SECRET='` }],
  },
  {
    // Somebody inside may have the same number: the host knows who was hit.
    title: 'kill other processes',
    ways: [{ script: 'kill -9 "$BYSTANDER"; false' }],
  },
  {
    // The first pipe is there to wait until it is on its way, the second never gets a writer.
    title: 'leave a process running',
    ways: [
      {
        needs: 'setsid',
        script: `mkfifo a b; setsid sh -c 'read _ < a; read _ < b' "left-$TOKEN" < /dev/null & echo > a; false`,
      },
    ],
  },
  {
    // Names a program that the kernel starts as root. It gets the value that it has.
    title: 'change settings of the kernel',
    ways: [{ script: 'f=/proc/sys/kernel/core_pattern; v=$(cat $f) && [ -n "$v" ] && echo "$v" > $f' }],
  },
  {
    title: 'reach disks or make devices',
    ways: [
      { needs: 'find', script: 'find /dev -type b | grep .' },
      { needs: 'mknod', script: 'mknod null c 1 3' },
    ],
  },
  {
    title: 'gain privileges',
    ways: [
      { script: "! grep '^NoNewPrivs:.*1$' /proc/self/status || ! grep '^CapEff:[[:space:]]*0*$' /proc/self/status" },
    ],
  },
  {
    title: 'make namespaces',
    ways: [{ needs: 'unshare', script: 'unshare -Ur true || unshare -m true' }],
  },
  {
    title: 'connect to a port of this machine',
    ways: [
      { needs: 'bash', script: `bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$PORT" && read -r _ <&3'` },
      { needs: 'curl', script: 'curl -s -m 3 "http://127.0.0.1:$PORT/"' },
      {
        needs: 'perl',
        script: `perl -e 'socket(S,2,1,0) && connect(S, pack("S n C4 x8", 2, $ENV{PORT}, 127,0,0,1)) or exit 1; <S>'`,
      },
      {
        needs: 'python3',
        script: `${PYTHON} 'import os, socket; socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), 3).recv(1)'`,
      },
    ],
  },
  {
    // The second name of each is in no directory, but in the network.
    title: 'connect to UNIX sockets',
    ways: [
      { needs: 'curl', script: 'curl -s -m 3 --unix-socket "$SOCKET" http://localhost/' },
      ...['$ENV{SOCKET}', '"\\0doctor-$ENV{TOKEN}"'].map((name) => ({
        needs: 'perl',
        script: `perl -e 'socket(S,1,1,0) && connect(S, pack("S a*", 1, ${name})) or exit 1; <S>'`,
      })),
      ...['os.environ["SOCKET"]', '"\\0doctor-" + os.environ["TOKEN"]'].map((name) => ({
        needs: 'python3',
        script: `${PYTHON} 'import os, socket; s = socket.socket(socket.AF_UNIX); s.connect(${name}); s.recv(1)'`,
      })),
    ],
  },
]
