import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, test } from 'node:test'
import { ExecError } from '@waldo/environment'
import { TreeWatch, type TreeWatchOptions } from './tree-watch.ts'

const onLinux = { skip: process.platform !== 'linux' && 'there is no inotify here' }

/** A directory of its own for each test, and a watch on something in it. */
async function watching(
  use: (follow: Following) => Promise<void>,
  { root = '', ...options }: Partial<TreeWatchOptions> & { root?: string } = {},
  prepare: (directory: string) => void = () => {},
) {
  const directory = fs.mkdtempSync(`${tmpdir()}/waldo-watch-`)
  try {
    prepare(directory)
    const watch = await TreeWatch.open(directory + root, { recursive: true, coalesceMs: 5, ...options })
    try {
      await use(new Following(directory, watch))
    } finally {
      watch.close()
    }
  } finally {
    fs.rmSync(directory, { recursive: true })
  }
}

class Following {
  readonly directory: string
  readonly watch: TreeWatch
  #cursor: number

  constructor(directory: string, watch: TreeWatch) {
    this.directory = directory
    this.watch = watch
    this.#cursor = watch.cursor
  }

  /** In another process, while this one waits: everything has happened before anything is told. */
  shell(script: string): void {
    const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', script], { cwd: this.directory })
    assert.equal(exitCode, 0, stderr.toString())
  }

  /** Reads until all of these were told, as `kind path`; whatever else is told with them is returned, too. */
  async until(...expected: string[]): Promise<string[]> {
    const told: string[] = []
    while (!expected.every((change) => told.includes(change))) told.push(...(await this.next()))
    return told
  }

  async next(): Promise<string[]> {
    const { changes, overflow, cursor } = await this.batch()
    this.#cursor = cursor
    const lines = changes.map(({ path, kind }) => {
      const bytes = Buffer.from(path as string)
      return `${kind} ${bytes.toString('latin1').slice(this.directory.length + 1)}`
    })
    return overflow ? ['overflow', ...lines] : lines
  }

  /** While it catches up after an overflow, it says so again and again. */
  async complete(): Promise<void> {
    while (this.watch.since(this.watch.cursor).overflow) await Bun.sleep(1)
    this.#cursor = this.watch.cursor
  }

  async batch() {
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = this.watch.onChange(resolve)
    if (this.watch.cursor === this.#cursor) await promise
    stop()
    return this.watch.since(this.#cursor)
  }
}

describe('a watched tree', onLinux, () => {
  test('tells what is created, modified and removed', () =>
    watching(async (follow) => {
      follow.shell('mkdir d; echo 1 > d/f; echo 1 > g')
      assert.deepEqual((await follow.until('created d', 'created d/f', 'created g')).length, 3)
      follow.shell('echo 2 >> d/f; chmod 600 g')
      assert.deepEqual((await follow.until('modified d/f', 'modified g')).length, 2)
      follow.shell('rm g; rm -r d')
      await follow.until('removed g', 'removed d')
    }))

  test('tells of everything in directories that were filled before they could be watched', () =>
    watching(async (follow) => {
      follow.shell('mkdir -p a/b/c/d/e; for d in a a/b a/b/c a/b/c/d a/b/c/d/e; do echo > $d/f; done')
      await follow.until('created a', 'created a/f', 'created a/b/c/d/e', 'created a/b/c/d/e/f')
      follow.shell('echo > a/b/c/d/e/later')
      await follow.until('created a/b/c/d/e/later')
    }))

  test('follows a directory to its new name', () =>
    watching(async (follow) => {
      follow.shell('mkdir -p old/inner; mv old new')
      await follow.until('removed old', 'created new', 'created new/inner')
      follow.shell('echo > new/inner/f')
      assert.deepEqual(await follow.until('created new/inner/f'), ['created new/inner/f'])
    }))

  test('tells of a directory that comes from elsewhere, and forgets one that leaves', () =>
    watching(
      async (follow) => {
        follow.shell('mv outside/d root/d')
        await follow.until('created root/d', 'created root/d/inner', 'created root/d/inner/f')
        follow.shell('mv root/d outside/d; echo > outside/d/inner/unseen; echo > root/last')
        assert.deepEqual(await follow.until('created root/last'), ['removed root/d', 'created root/last'])
      },
      { root: '/root' },
      (directory) => {
        fs.mkdirSync(`${directory}/root`)
        fs.mkdirSync(`${directory}/outside/d/inner`, { recursive: true })
        fs.writeFileSync(`${directory}/outside/d/inner/f`, '')
      },
    ))

  test('tells both of a directory that was replaced, in that order', () =>
    watching(async (follow) => {
      follow.shell('mkdir d; echo > d/old')
      await follow.until('created d/old')
      follow.shell('rm -r d; mkdir d; echo > d/new')
      const told = await follow.until('created d/new')
      assert.deepEqual(told, ['removed d/old', 'removed d', 'created d', 'created d/new'])
    }))

  test('does not follow links', () =>
    watching(
      async (follow) => {
        follow.shell('ln -s ../outside root/link; echo > outside/f; echo > root/last')
        assert.deepEqual(await follow.until('created root/last'), ['created root/link', 'created root/last'])
      },
      { root: '/root' },
      (directory) => {
        fs.mkdirSync(`${directory}/root`)
        fs.mkdirSync(`${directory}/outside`)
        fs.symlinkSync('../outside', `${directory}/root/there-before`)
      },
    ))

  test('may be reached through a link, and then tells its paths as the caller has them', () =>
    watching(
      async (follow) => {
        follow.shell('mkdir one/d; echo > one/d/f')
        await follow.until('created link/d/f')
        follow.shell('ln -sfn two link')
        await follow.until('removed link', 'created link', 'created link/here')
      },
      { root: '/link' },
      (directory) => {
        for (const name of ['one', 'two', 'two/here']) fs.mkdirSync(`${directory}/${name}`)
        fs.symlinkSync('one', `${directory}/link`)
      },
    ))

  test('keeps names that are no text', () =>
    watching(async (follow) => {
      const directory = Buffer.concat([Buffer.from(`${follow.directory}/d`), Buffer.from([0xff, 0xfe])])
      fs.mkdirSync(directory)
      await follow.until('created d\xff\xfe')
      fs.writeFileSync(Buffer.concat([directory, Buffer.from('/ü'), Buffer.from([0x80])]), '')
      await follow.until('created d\xff\xfe/\xc3\xbc\x80')
    }))

  test('that is not recursive tells of its own entries only', () =>
    watching(
      async (follow) => {
        follow.shell('echo > d/f; mkdir e; echo > e/f; echo > last')
        assert.deepEqual(await follow.until('created last'), ['created e', 'created last'])
      },
      { recursive: false },
      (directory) => fs.mkdirSync(`${directory}/d`),
    ))

  test('may be a file, which stays watched when it is replaced', () =>
    watching(
      async (follow) => {
        follow.shell('echo 2 > f; echo > other')
        assert.deepEqual(await follow.until('modified f'), ['modified f'])
        follow.shell('echo 3 > new; mv new f')
        await follow.until('modified f')
        follow.shell('echo 4 > f')
        await follow.until('modified f')
        follow.shell('rm f')
        await follow.until('removed f')
        follow.shell('echo 5 > f')
        await follow.until('created f')
      },
      { root: '/f' },
      (directory) => fs.writeFileSync(`${directory}/f`, ''),
    ))

  test('is watched again when it comes back, even if the directories above it were gone', () =>
    watching(
      async (follow) => {
        follow.shell('mv a b')
        await follow.until('removed a/root')
        follow.shell('mkdir -p a/root/d; echo > a/root/d/f')
        await follow.until('created a/root', 'created a/root/d/f')
        follow.shell('echo > b/root/unseen; rm -r a; mkdir -p a/root/e')
        const told = await follow.until('created a/root/e')
        assert.ok(!told.some((change) => change.includes('unseen')))
        follow.shell('echo > a/root/e/f')
        await follow.until('created a/root/e/f')
      },
      { root: '/a/root' },
      (directory) => fs.mkdirSync(`${directory}/a/root`, { recursive: true }),
    ))

  test('tells each of several watches, and goes on for one when another is closed', () =>
    watching(async (follow) => {
      const second = await TreeWatch.open(follow.directory, { recursive: true, coalesceMs: 1 })
      const other = new Following(follow.directory, second)
      follow.shell('echo > a')
      await Promise.all([follow.until('created a'), other.until('created a')])
      second.close()
      follow.shell('echo > b')
      assert.deepEqual(await follow.until('created b'), ['created b'])
    }))

  test('reports an overflow when more happens than the system remembers, and then goes on', async (context) => {
    const remembered = Number(fs.readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'))
    if (remembered > 50_000) return context.skip('the system remembers too much')
    await watching(
      async (follow) => {
        // Nothing is read while the shell runs. The directories change after the queue is full.
        follow.shell(`(cd root; seq ${remembered + 100} | xargs touch; mkdir -p new/inner)
          rmdir root/replaced; mkdir -p root/replaced/inner; mv root/moved moved`)
        await follow.until('overflow')
        await follow.complete()
        follow.shell('echo > moved/unseen; echo > root/new/inner/f; echo > root/replaced/inner/f')
        assert.deepEqual(await follow.until('created root/new/inner/f', 'created root/replaced/inner/f'), [
          'created root/new/inner/f',
          'created root/replaced/inner/f',
        ])
      },
      { root: '/root' },
      (directory) => {
        fs.mkdirSync(`${directory}/root/replaced`, { recursive: true })
        fs.mkdirSync(`${directory}/root/moved`)
      },
    )
  })

  test('tells of every file of a burst', () =>
    watching(async (follow) => {
      const script = `for (let d = 0; d < 50; d++) { require('fs').mkdirSync('d' + d); for (let f = 0; f < 100; f++) require('fs').writeFileSync('d' + d + '/' + f, '') }`
      const writer = Bun.spawn([process.execPath, '-e', script], { cwd: follow.directory })
      const expected = Array.from({ length: 5000 }, (_, n) => `created d${Math.floor(n / 100)}/${n % 100}`)
      const told = new Set<string>()
      while (!expected.every((change) => told.has(change))) for (const change of await follow.next()) told.add(change)
      assert.equal(await writer.exited, 0)
      assert.ok(!told.has('overflow'))
    }))

  test('does not keep others from reading files', () =>
    watching(async (follow) => {
      const reads = Array.from({ length: 50 }, () => fs.promises.readFile('/proc/self/stat'))
      assert.equal((await Promise.all(reads)).length, 50)
      follow.shell('echo > f')
      await follow.until('created f')
    }))
})

describe('opening and closing', onLinux, () => {
  test('fails with a reason where there is nothing to watch', async () => {
    const cases = [
      ['/no/such/path', 'FILE_NOT_FOUND'],
      ['/etc/passwd/x', 'FILE_NOT_FOUND'],
      ['relative', 'FILE_INVALID'],
      ['/tmp\0/x', 'FILE_INVALID'],
    ] as const
    for (const [path, code] of cases) {
      await assert.rejects(TreeWatch.open(path, { recursive: true }), (error) => ExecError.is(error, code))
    }
  })

  test('lets the process end', async () => {
    const script = `
      const { TreeWatch } = await import(${JSON.stringify(`${import.meta.dirname}/tree-watch.ts`)})
      const watch = await TreeWatch.open(${JSON.stringify(tmpdir())}, { recursive: false })
      watch.close()`
    const child = Bun.spawn([process.execPath, '-e', script], { stdio: ['ignore', 'inherit', 'inherit'] })
    assert.equal(await child.exited, 0)
  })
})
